// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/pages/exportdialogs.h"

#include "app/gui/looks.h"
#include "app/gui/wizard/experimentpage.h"
#include "core/report/csvexport.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QDir>
#include <QDoubleSpinBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>
#include <QRegularExpression>

namespace knobscope {
namespace {

QHBoxLayout* withBrowse(QLineEdit* edit, QPushButton* button) {
    auto* row = new QHBoxLayout;
    row->addWidget(edit, 1);
    row->addWidget(button);
    return row;
}

/// A row that is a layout does not make its label's letter a short cut by itself.
QLabel* labelFor(const QString& text, QWidget* field) {
    auto* label = new QLabel(text, field->parentWidget());
    label->setBuddy(field);
    return label;
}

QDialogButtonBox* exportButtons(QDialog* dialog) {
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, dialog);
    QPushButton* write = buttons->addButton(QDialog::tr("&Export"), QDialogButtonBox::AcceptRole);
    write->setObjectName("exportButton");
    write->setDefault(true);
    QObject::connect(buttons, &QDialogButtonBox::accepted, dialog, &QDialog::accept);
    QObject::connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::reject);
    return buttons;
}

} // namespace

FigureDialog::FigureDialog(CurveSet curves, const QString& suggestedPath, QWidget* parent)
    : QDialog(parent), m_curves(std::move(curves)), m_path(new QLineEdit(suggestedPath, this)),
      m_format(new QComboBox(this)), m_style(new QComboBox(this)),
      m_width(new QDoubleSpinBox(this)), m_height(new QDoubleSpinBox(this)),
      m_font(new QDoubleSpinBox(this)), m_error(makeErrorLabel("figureError", this)) {
    setObjectName("figureDialog");
    setWindowTitle(tr("Export figure"));
    setAttribute(Qt::WA_DeleteOnClose);
    m_path->setObjectName("figurePath");
    m_format->setObjectName("figureFormat");
    m_style->setObjectName("figureStyle");
    m_width->setObjectName("figureWidth");
    m_height->setObjectName("figureHeight");
    m_font->setObjectName("figureFont");
    build();
    connect(m_format, &QComboBox::currentIndexChanged, this, &FigureDialog::followFormat);
    connect(m_style, &QComboBox::currentIndexChanged, this, &FigureDialog::followStyle);
    followFormat();
    followStyle();
}

void FigureDialog::build() {
    m_format->addItem(tr("PDF, fonts embedded"), QStringLiteral("pdf"));
    m_format->addItem(tr("SVG"), QStringLiteral("svg"));
    m_format->addItem(tr("PNG, 300 dpi"), QStringLiteral("png"));
    m_style->addItem(tr("ACM column"), QStringLiteral("acm"));
    m_style->addItem(tr("IEEE column"), QStringLiteral("ieee"));
    m_style->addItem(tr("USENIX column"), QStringLiteral("usenix"));
    m_style->addItem(tr("Slide"), QStringLiteral("slides"));
    for (QDoubleSpinBox* box : {m_width, m_height}) {
        box->setRange(20, 1000);
        box->setSuffix(tr(" mm"));
    }
    m_font->setRange(4, 72);
    m_font->setDecimals(1);
    m_font->setSuffix(tr(" pt"));
    auto* browseButton = new QPushButton(tr("&Browse…"), this);
    connect(browseButton, &QPushButton::clicked, this, &FigureDialog::browse);

    auto* form = new QFormLayout(this);
    form->addRow(labelFor(tr("&File:"), m_path), withBrowse(m_path, browseButton));
    form->addRow(tr("F&ormat:"), m_format);
    form->addRow(tr("&Style:"), m_style);
    form->addRow(tr("&Width:"), m_width);
    form->addRow(tr("&Height:"), m_height);
    form->addRow(tr("&Text:"), m_font);
    form->addRow(m_error);
    form->addRow(exportButtons(this));
    setMinimumWidth(520);
}

void FigureDialog::followStyle() {
    const auto style = figureStyle(m_style->currentData().toString());
    if (!style)
        return;
    m_width->setValue(style->widthMm);
    m_height->setValue(style->heightMm);
    m_font->setValue(style->fontPt);
}

/// The format decides the ending of the name.
void FigureDialog::followFormat() {
    static const QRegularExpression ending(QStringLiteral("\\.(pdf|svg|png)$"),
                                           QRegularExpression::CaseInsensitiveOption);
    const QString bare = m_path->text().remove(ending);
    m_path->setText(bare + QLatin1Char('.') + m_format->currentData().toString());
}

void FigureDialog::browse() {
    auto* dialog = new QFileDialog(this, tr("Export figure"), m_path->text(),
                                   tr("Figures (*.pdf *.svg *.png)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& path) {
        m_path->setText(path);
        m_replaceable = path;
        const int format = m_format->findData(QFileInfo(path).suffix().toLower());
        if (format >= 0)
            m_format->setCurrentIndex(format);
        followFormat();
    });
    dialog->open();
}

FigureStyle FigureDialog::style() const {
    FigureStyle style;
    style.widthMm = m_width->value();
    style.heightMm = m_height->value();
    style.fontPt = m_font->value();
    return style;
}

void FigureDialog::accept() {
    const QString path = m_path->text().trimmed();
    if (path == m_replaceable || !QFileInfo::exists(path)) {
        write(path);
        return;
    }
    auto* question =
        new QMessageBox(QMessageBox::Warning, tr("Export figure"),
                        tr("The file is there already. Replace it?"), QMessageBox::Cancel, this);
    question->setObjectName("replaceQuestion");
    question->setInformativeText(path);
    question->setAttribute(Qt::WA_DeleteOnClose);
    QPushButton* replace = question->addButton(tr("&Replace"), QMessageBox::DestructiveRole);
    replace->setObjectName("replaceConfirmed");
    preferCancel(question);
    connect(replace, &QPushButton::clicked, this, [this, path] { write(path); });
    question->open();
}

void FigureDialog::write(const QString& path) {
    const Result<void> written = exportFigure(m_curves, style(), path);
    setErrorText(m_error, written ? QString() : written.error().text());
    if (!written)
        return;
    emit exported(path);
    QDialog::accept();
}

CsvDialog::CsvDialog(const QString& suggestedFolder, QWidget* parent)
    : QDialog(parent), m_folder(new QLineEdit(suggestedFolder, this)),
      m_replaced(makeErrorLabel("csvReplaced", this)) {
    setObjectName("csvDialog");
    setWindowTitle(tr("Export CSV"));
    setAttribute(Qt::WA_DeleteOnClose);
    m_folder->setObjectName("csvFolder");
    auto* browseButton = new QPushButton(tr("&Browse…"), this);
    connect(browseButton, &QPushButton::clicked, this, &CsvDialog::browse);
    auto* text = new QLabel(tr("Writes samples.csv, cells.csv, counters.csv, environment.csv, "
                               "dictionary.json and experiment.json into the folder, of several "
                               "hosts hosts.csv, and where streams are known streams.csv."),
                            this);
    text->setWordWrap(true);
    auto* form = new QFormLayout(this);
    form->addRow(text);
    form->addRow(labelFor(tr("&Folder:"), m_folder), withBrowse(m_folder, browseButton));
    form->addRow(m_replaced);
    QDialogButtonBox* buttons = exportButtons(this);
    m_cancel = buttons->button(QDialogButtonBox::Cancel);
    m_write = buttons->findChild<QPushButton*>(QStringLiteral("exportButton"));
    form->addRow(buttons);
    setMinimumWidth(520);
    connect(m_folder, &QLineEdit::textChanged, this, &CsvDialog::follow);
    follow();
    connect(this, &QDialog::accepted, this, [this] { emit chosen(m_folder->text().trimmed()); });
}

/// Says which files are replaced, before they are.
void CsvDialog::follow() {
    const QDir folder(m_folder->text().trimmed());
    QStringList there;
    for (const QString& name : csvFileNames()) {
        if (!m_folder->text().trimmed().isEmpty() && folder.exists(name))
            there.append(name);
    }
    setErrorText(m_replaced, there.isEmpty()
                                 ? QString()
                                 : tr("Replaced there: %1").arg(there.join(QStringLiteral(", "))));
    m_write->setText(there.isEmpty() ? tr("&Export") : tr("&Replace and export"));
    // Enter replaces nothing.
    (there.isEmpty() ? m_write : m_cancel)->setDefault(true);
}

void CsvDialog::browse() {
    auto* dialog = new QFileDialog(this, tr("Folder of the CSV files"), m_folder->text());
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::Directory);
    dialog->setOption(QFileDialog::ShowDirsOnly);
    connect(dialog, &QFileDialog::fileSelected, m_folder, &QLineEdit::setText);
    dialog->open();
}

} // namespace knobscope
