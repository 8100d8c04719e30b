// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/wizard/knobrow.h"

#include "app/gui/icons.h"
#include "app/gui/looks.h"
#include "app/gui/models/valuelist.h"
#include "app/gui/wizard/experimentpage.h"
#include "core/model/knobcatalogue.h"

#include <QComboBox>
#include <QCompleter>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>

namespace knobscope {
namespace {

QStringList knobNames(KnobRow::Kind kind, const QString& testKind) {
    QStringList names;
    for (const QString& name : knownKnobNames()) {
        const auto knob = findKnob(name);
        if (knob && (testKind.isEmpty() || fitsTest(*knob, testKind)) &&
            (kind == KnobRow::Kind::Axis || knob->info.scope == KnobScope::Test))
            names.append(name);
    }
    return names;
}

/// Values that the knob takes, to show how they are written; empty where only the host knows.
QStringList exampleValues(const QString& name) {
    const auto knob = findKnob(name);
    if (!knob)
        return {};
    QStringList values;
    switch (knob->kind) {
    case ValueKind::Size:
        values = {QStringLiteral("32K"), QStringLiteral("64K"), QStringLiteral("256K")};
        break;
    case ValueKind::Number:
        values = {QStringLiteral("1"), QStringLiteral("2"), QStringLiteral("4")};
        break;
    case ValueKind::Switch:
        values = {QStringLiteral("on"), QStringLiteral("off")};
        break;
    case ValueKind::Ports:
        values = {QStringLiteral("40000-40100")};
        break;
    case ValueKind::Word:
    case ValueKind::Name:
    case ValueKind::Text:
        break;
    }
    values += knob->words.mid(0, 3);
    values.removeIf([&](const QString& value) {
        return !checkKnobValue(knob->info, KnobValue(value)).has_value();
    });
    return values;
}

} // namespace

KnobRow::KnobRow(Kind kind, QWidget* parent)
    : QWidget(parent), m_kind(kind), m_knob(new QComboBox(this)), m_side(new QComboBox(this)),
      m_values(new QLineEdit(this)), m_remove(new QToolButton(this)), m_help(new QLabel(this)),
      m_todo(new QLabel(this)), m_error(makeErrorLabel("", this)) {
    m_knob->setEditable(true);
    m_knob->setInsertPolicy(QComboBox::NoInsert);
    m_knob->addItems(knobNames(kind, {}));
    m_knob->setCurrentIndex(-1);
    m_knob->completer()->setFilterMode(Qt::MatchContains);
    m_knob->completer()->setCompletionMode(QCompleter::PopupCompletion);
    m_knob->lineEdit()->setPlaceholderText(tr("Choose or type a knob"));
    for (const Side side : {Side::Both, Side::Sender, Side::Receiver})
        m_side->addItem(sideName(side), static_cast<int>(side));
    m_side->setVisible(kind == Kind::Axis);
    setFocusProxy(m_knob);
    build();

    connect(m_knob, &QComboBox::currentTextChanged, this, [this] {
        followKnob();
        emit edited();
    });
    connect(m_side, &QComboBox::currentIndexChanged, this, &KnobRow::edited);
    connect(m_values, &QLineEdit::textChanged, this, &KnobRow::edited);
    connect(m_remove, &QToolButton::clicked, this, &KnobRow::removeRequested);
}

void KnobRow::build() {
    m_knob->setAccessibleName(tr("Knob"));
    m_knob->setToolTip(tr("A test knob such as window, or a host knob such as\n"
                          "sysctl:net.ipv4.tcp_rmem, link:mtu or feature:tso"));
    m_knob->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    m_side->setAccessibleName(tr("Side"));
    m_side->setToolTip(tr("On which host the knob is set"));
    m_values->setAccessibleName(m_kind == Kind::Axis ? tr("Values") : tr("Value"));
    m_values->setToolTip(
        m_kind == Kind::Axis
            ? tr("Values separated by blanks, or by commas where a value has blanks "
                 "itself.\nK, M and G are powers of 1024.")
            : tr("One value. K, M and G are powers of 1024."));
    m_remove->setIcon(icon("remove"));
    m_remove->setAutoRaise(true);
    m_remove->setToolTip(tr("Remove this knob"));
    m_remove->setAccessibleName(tr("Remove this knob"));
    m_help->setWordWrap(true);
    m_help->hide();
    m_todo->hide();
    makeHint(m_help);
    makeHint(m_todo);
    QFont italic = m_todo->font();
    italic.setItalic(true);
    m_todo->setFont(italic);

    auto* layout = new QGridLayout(this);
    layout->setContentsMargins(0, 0, 0, 4);
    layout->setVerticalSpacing(1);
    const auto head = [&](const QString& title, QWidget* field, int column) {
        auto* label = new QLabel(title, this);
        label->setVisible(false);
        m_headings.append(label);
        layout->addWidget(label, 0, column);
        layout->addWidget(field, 1, column);
    };
    head(tr("Knob"), m_knob, 0);
    if (m_kind == Kind::Axis)
        head(tr("On"), m_side, 1);
    head(m_kind == Kind::Axis ? tr("Values") : tr("Value"), m_values, 2);
    layout->addWidget(m_remove, 1, 3);
    layout->addWidget(m_help, 2, 0, 1, 4);
    layout->addWidget(m_todo, 3, 0, 1, 4);
    layout->addWidget(m_error, 4, 0, 1, 4);
    layout->setColumnStretch(0, 5);
    layout->setColumnStretch(2, 6);
}

void KnobRow::setNumber(int number) {
    const QString prefix = m_kind == Kind::Axis ? QStringLiteral("axis") : QStringLiteral("option");
    const auto name = [&](QObject* object, const char* part) {
        object->setObjectName(prefix + QLatin1String(part) + QString::number(number));
    };
    for (QLabel* heading : std::as_const(m_headings)) // above the first row only
        heading->setVisible(number == 0);
    name(m_knob, "Knob");
    name(m_side, "Side");
    name(m_values, "Values");
    name(m_remove, "Remove");
    name(m_help, "Help");
    name(m_todo, "Todo");
    name(m_error, "Error");
}

void KnobRow::setTestKind(const QString& testKind) {
    if (testKind == m_testKind)
        return;
    m_testKind = testKind;
    const QSignalBlocker quiet(m_knob);
    const QString chosen = m_knob->currentText();
    m_knob->clear();
    m_knob->addItems(knobNames(m_kind, testKind));
    for (int i = 0; i < m_knob->count(); ++i) {
        if (const auto info = knobInfo(m_knob->itemText(i)))
            m_knob->setItemData(i, info->help, Qt::ToolTipRole);
    }
    m_knob->setCurrentIndex(m_knob->findText(chosen));
    m_knob->setEditText(chosen);
}

void KnobRow::followKnob() {
    const QStringList examples = exampleValues(m_knob->currentText().trimmed());
    m_values->setPlaceholderText(m_kind == Kind::Axis ? examples.join(QLatin1Char(' '))
                                                      : examples.value(0));
    const auto info = knobInfo(m_knob->currentText().trimmed());
    m_help->setText(info ? info->help : QString());
    m_help->setVisible(info && !info->help.isEmpty());
    const bool bothOnly = info && info->bothSidesOnly;
    if (bothOnly)
        m_side->setCurrentIndex(m_side->findData(static_cast<int>(Side::Both)));
    m_side->setEnabled(!bothOnly);
}

void KnobRow::setAxis(const Axis& axis) {
    const QSignalBlocker quiet(this);
    m_knob->setCurrentText(axis.knob);
    m_side->setCurrentIndex(m_side->findData(static_cast<int>(axis.side)));
    m_values->setText(m_kind == Kind::Axis    ? formatValueList(axis.values)
                      : axis.values.isEmpty() ? QString()
                                              : axis.values.first().text);
    followKnob();
}

Axis KnobRow::axis() const {
    Axis axis;
    axis.knob = m_knob->currentText().trimmed();
    axis.side = static_cast<Side>(m_side->currentData().toInt());
    if (m_kind == Kind::Option) {
        axis.values = {KnobValue(m_values->text().simplified())};
        return axis;
    }
    if (const auto values = parseValueList(m_values->text()))
        axis.values = *values;
    return axis;
}

QString KnobRow::valueError() const {
    if (m_kind == Kind::Option)
        return {};
    const auto values = parseValueList(m_values->text());
    return values ? QString() : values.error().text();
}

void KnobRow::setError(const QString& text) {
    const Axis own = axis();
    const auto knob = findKnob(own.knob);
    const bool sensible = own.knob.isEmpty() || (knob && fitsTest(*knob, m_testKind));
    const QString todo =
        text.isEmpty() || !sensible || !valueError().isEmpty() ? QString() : incompleteText(own);
    setErrorText(m_todo, todo);
    setErrorText(m_error, todo.isEmpty() ? text : QString());
}

} // namespace knobscope
