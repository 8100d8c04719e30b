// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/wizard/summarypage.h"

#include "app/gui/icons.h"
#include "app/gui/wizard/checklist.h"
#include "app/gui/wizard/experimentpage.h"
#include "app/gui/wizard/matrixpage.h"
#include "core/model/experimentfile.h"

#include <QFileDialog>
#include <QFontDatabase>
#include <QHBoxLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSaveFile>
#include <QVBoxLayout>

namespace knobscope {

SummaryPage::SummaryPage(std::function<Experiment()> experiment,
                         std::function<PreflightReport()> report, QWidget* parent)
    : QWizardPage(parent), m_experiment(std::move(experiment)), m_report(std::move(report)),
      m_changesTitle(new QLabel(this)), m_changes(new CheckList(this)),
      m_estimate(new QLabel(this)), m_json(new QPlainTextEdit(this)),
      m_save(new QPushButton(icon("save"), tr("Save &as…"), this)), m_saved(new QLabel(this)),
      m_error(makeErrorLabel("saveError", this)) {
    setTitle(tr("Start"));
    setSubTitle(
        tr("What the run changes, and the experiment as a file. knobscope-cli runs the same "
           "file without a window."));
    m_changes->setObjectName("summaryChanges");
    m_changes->setAccessibleName(tr("Changes on the hosts"));
    setFinalPage(true);
    m_estimate->setObjectName("summaryEstimate");
    m_json->setObjectName("summaryJson");
    m_json->setReadOnly(true);
    m_json->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    m_json->setAccessibleName(tr("Experiment file"));
    m_save->setObjectName("saveExperiment");
    QFont strong = m_estimate->font();
    strong.setBold(true);
    m_estimate->setFont(strong);

    auto* bottom = new QHBoxLayout;
    bottom->addWidget(m_estimate, 1);
    bottom->addWidget(m_saved);
    bottom->addWidget(m_save);
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(m_changesTitle);
    layout->addWidget(m_changes, 1);
    layout->addWidget(m_json, 2);
    layout->addWidget(m_error);
    layout->addLayout(bottom);
    connect(m_save, &QPushButton::clicked, this, &SummaryPage::askAndSave);
}

void SummaryPage::initializePage() {
    const PreflightReport report = m_report();
    m_changes->setChanges(report);
    m_changes->setVisible(!report.changes.isEmpty());
    m_changesTitle->setText(report.changes.isEmpty()
                                ? tr("Nothing is changed on the hosts.")
                                : tr("Changed on the hosts, and put back at the end:"));
    m_json->setPlainText(QString::fromUtf8(writeExperiment(m_experiment())));
    m_estimate->setText(estimateText(m_experiment()));
    m_saved->clear();
    setErrorText(m_error, {});
}

void SummaryPage::askAndSave() {
    auto* dialog = new QFileDialog(this, tr("Save experiment"), QString(),
                                   tr("Experiments (*.json);;All files (*)"));
    dialog->setObjectName("saveDialog");
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(QStringLiteral("json"));
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& path) {
        const Result<void> saved = saveTo(path);
        setErrorText(m_error, saved ? QString() : saved.error().text());
    });
    dialog->open();
}

Result<void> SummaryPage::saveTo(const QString& path) {
    QSaveFile file(path);
    const QByteArray json = writeExperiment(m_experiment());
    if (!file.open(QIODevice::WriteOnly) || file.write(json) != json.size() || !file.commit())
        return fail(Error::Code::Storage, tr("Cannot write %1").arg(path), file.errorString());
    m_saved->setText(tr("Saved."));
    m_saved->setToolTip(path);
    return {};
}

} // namespace knobscope
