// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/wizard/knobrow.h"

#include "app/gui/icons.h"
#include "app/gui/models/valuelist.h"
#include "app/gui/wizard/experimentpage.h"

#include <QComboBox>
#include <QCompleter>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>

namespace knobscope {
namespace {

QStringList knobNames(KnobRow::Kind kind) {
    QStringList names;
    for (const QString& name : knownKnobNames()) {
        const auto info = knobInfo(name);
        if (kind == KnobRow::Kind::Axis || (info && info->scope == KnobScope::Test))
            names.append(name);
    }
    return names;
}

} // namespace

KnobRow::KnobRow(Kind kind, QWidget* parent)
    : QWidget(parent), m_kind(kind), m_knob(new QComboBox(this)), m_side(new QComboBox(this)),
      m_values(new QLineEdit(this)), m_remove(new QToolButton(this)), m_help(new QLabel(this)),
      m_error(makeErrorLabel("", this)) {
    m_knob->setEditable(true);
    m_knob->setInsertPolicy(QComboBox::NoInsert);
    m_knob->addItems(knobNames(kind));
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
    m_values->setPlaceholderText(m_kind == Kind::Axis ? tr("32K 64K 256K auto") : tr("64K"));
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
    m_help->setForegroundRole(QPalette::PlaceholderText);
    m_help->hide();

    auto* layout = new QGridLayout(this);
    layout->setContentsMargins(0, 0, 0, 4);
    layout->setVerticalSpacing(1);
    layout->addWidget(m_knob, 0, 0);
    layout->addWidget(m_side, 0, 1);
    layout->addWidget(m_values, 0, 2);
    layout->addWidget(m_remove, 0, 3);
    layout->addWidget(m_help, 1, 0, 1, 4);
    layout->addWidget(m_error, 2, 0, 1, 4);
    layout->setColumnStretch(0, 5);
    layout->setColumnStretch(2, 6);
}

void KnobRow::setNumber(int number) {
    const QString prefix = m_kind == Kind::Axis ? QStringLiteral("axis") : QStringLiteral("option");
    const auto name = [&](QObject* object, const char* part) {
        object->setObjectName(prefix + QLatin1String(part) + QString::number(number));
    };
    name(m_knob, "Knob");
    name(m_side, "Side");
    name(m_values, "Values");
    name(m_remove, "Remove");
    name(m_help, "Help");
    name(m_error, "Error");
}

void KnobRow::followKnob() {
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
    setErrorText(m_error, text);
}

} // namespace knobscope
