// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/wizard/testpage.h"

#include "app/gui/wizard/knobrows.h"

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QGroupBox>
#include <QLabel>
#include <QVBoxLayout>

namespace knobscope {

TestPage::TestPage(QWidget* parent)
    : ExperimentPage(parent), m_kind(new QComboBox(this)), m_seconds(new QDoubleSpinBox(this)),
      m_warmup(new QDoubleSpinBox(this)),
      m_options(new KnobRows(KnobRow::Kind::Option, tr("&Add option"), this)),
      m_error(makeErrorLabel("testError", this)) {
    setTitle(tr("Test"));
    setSubTitle(tr("What every sample measures."));
    m_kind->setObjectName("testKind");
    m_kind->addItem(tr("TCP stream: throughput"), QStringLiteral("tcp_stream"));
    m_kind->addItem(tr("TCP request and response: transactions per second"),
                    QStringLiteral("tcp_rr"));
    m_kind->addItem(tr("TCP connect, request and response: connections per second"),
                    QStringLiteral("tcp_crr"));
    m_kind->addItem(tr("UDP stream: datagrams delivered and lost"), QStringLiteral("udp_stream"));
    m_kind->addItem(tr("UDP request and response: transactions per second"),
                    QStringLiteral("udp_rr"));
    m_seconds->setObjectName("testSeconds");
    m_seconds->setRange(0.1, 86400);
    m_seconds->setDecimals(1);
    m_seconds->setSuffix(tr(" s"));
    m_seconds->setToolTip(tr("Measured time of one sample"));
    m_warmup->setObjectName("testWarmup");
    m_warmup->setRange(0, 86400);
    m_warmup->setDecimals(1);
    m_warmup->setSingleStep(0.1);
    m_warmup->setSuffix(tr(" s"));
    m_warmup->setToolTip(tr("Sent before the measured time and not counted"));

    auto* form = new QFormLayout;
    form->addRow(tr("&Kind:"), m_kind);
    form->addRow(tr("&Measured time:"), m_seconds);
    form->addRow(tr("&Warm-up:"), m_warmup);
    form->addRow(m_error);
    form->setFieldGrowthPolicy(QFormLayout::FieldsStayAtSizeHint);
    m_seconds->setMinimumWidth(180);
    m_warmup->setMinimumWidth(180);
    auto* box = new QGroupBox(tr("Options held fixed"), this);
    auto* boxLayout = new QVBoxLayout(box);
    boxLayout->addWidget(m_options);
    boxLayout->addStretch(1);
    auto* layout = new QVBoxLayout(this);
    layout->addLayout(form);
    layout->addWidget(box, 1);

    connect(m_kind, &QComboBox::currentIndexChanged, this, &TestPage::edited);
    connect(m_seconds, &QDoubleSpinBox::valueChanged, this, &TestPage::edited);
    connect(m_warmup, &QDoubleSpinBox::valueChanged, this, &TestPage::edited);
    connect(m_options, &KnobRows::edited, this, &TestPage::edited);
}

void TestPage::load(const Experiment& experiment) {
    const TestSpec& test = experiment.test;
    m_kind->setCurrentIndex(m_kind->findData(test.kind));
    m_seconds->setValue(test.seconds);
    m_warmup->setValue(test.warmupSeconds);
    QList<Axis> options;
    for (auto it = test.options.cbegin(); it != test.options.cend(); ++it)
        options.append({it.key(), Side::Both, {it.value()}});
    m_options->setAxes(options);
}

void TestPage::store(Experiment& experiment) const {
    experiment.test.kind = m_kind->currentData().toString();
    experiment.test.seconds = m_seconds->value();
    experiment.test.warmupSeconds = m_warmup->value();
    experiment.test.options.clear();
    for (const Axis& option : m_options->axes())
        experiment.test.options.insert(option.knob, option.values.first());
}

QString TestPage::duplicateOption() const {
    QStringList names;
    for (const Axis& option : m_options->axes()) {
        if (names.contains(option.knob))
            return option.knob;
        names.append(option.knob);
    }
    return {};
}

bool TestPage::owns(const Problem& problem) const {
    return problem.isIn("test");
}

void TestPage::display(const Experiment&, const Problem* own) {
    const QList<Axis> options = m_options->axes();
    int row = -1;
    for (int i = 0; own != nullptr && i < options.size() && row < 0; ++i) {
        if (own->path == QStringLiteral("test.") + options[i].knob)
            row = i;
    }
    m_options->setError(row, own != nullptr ? own->text : QString());
    const QString twice = duplicateOption();
    if (own != nullptr && row < 0)
        setErrorText(m_error, own->text);
    else if (!twice.isEmpty())
        setErrorText(m_error,
                     tr("The option %1 is there twice; its last value counts.").arg(twice));
    else
        setErrorText(m_error, {});
}

} // namespace knobscope
