// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/wizard/testpage.h"

#include "app/gui/format.h"
#include "app/gui/looks.h"
#include "app/gui/wizard/knobrows.h"
#include "app/gui/wizard/plainspinbox.h"

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QGroupBox>
#include <QLabel>
#include <QVBoxLayout>

namespace knobscope {

TestPage::TestPage(QWidget* parent)
    : ExperimentPage(parent), m_form(new QFormLayout), m_kind(new QComboBox(this)),
      m_seconds(new PlainSpinBox(this)), m_warmup(new PlainSpinBox(this)),
      m_options(new KnobRows(KnobRow::Kind::Option, tr("&Add option"), this)),
      m_error(makeErrorLabel("testError", this)) {
    setTitle(tr("Test"));
    setSubTitle(tr("What every sample measures."));
    m_kind->setObjectName("testKind");
    const auto offer = [this](const char* kind, const QString& measures) {
        m_kind->addItem(tr("%1: %2").arg(testKindTitle(QLatin1String(kind)), measures),
                        QLatin1String(kind));
    };
    offer("tcp_stream", tr("throughput"));
    offer("tcp_rr", tr("transactions per second on a connection"));
    offer("tcp_crr", tr("connections per second"));
    offer("udp_stream", tr("datagrams delivered and lost"));
    offer("udp_rr", tr("transactions per second by datagrams"));
    m_seconds->setObjectName("testSeconds");
    m_seconds->setRange(0, 86400); // 0 is refused, not corrected in silence
    m_seconds->setSuffix(tr(" s"));
    m_seconds->setToolTip(tr("Measured time of one sample"));
    m_warmup->setObjectName("testWarmup");
    m_warmup->setRange(0, 86400);
    m_warmup->setSingleStep(0.1);
    m_warmup->setSuffix(tr(" s"));
    m_warmup->setToolTip(tr("Sent before the measured time and not counted"));

    m_form->addRow(tr("&Kind:"), m_kind);
    m_form->addRow(tr("&Measured time:"), m_seconds);
    m_form->addRow(tr("&Warm-up:"), m_warmup);
    m_form->addRow(m_error);
    m_form->setFieldGrowthPolicy(QFormLayout::FieldsStayAtSizeHint);
    m_seconds->setMinimumWidth(180);
    m_warmup->setMinimumWidth(180);
    auto* box = new QGroupBox(tr("Options held fixed"), this);
    auto* boxLayout = new QVBoxLayout(box);
    boxLayout->addWidget(scrolled(m_options, box));
    auto* layout = new QVBoxLayout(this);
    layout->addLayout(m_form);
    layout->addWidget(box, 1);

    connect(m_kind, &QComboBox::currentIndexChanged, this, [this] {
        m_options->setTestKind(m_kind->currentData().toString());
        emit edited();
    });
    connect(m_seconds, &QDoubleSpinBox::valueChanged, this, &TestPage::edited);
    connect(m_warmup, &QDoubleSpinBox::valueChanged, this, &TestPage::edited);
    connect(m_options, &KnobRows::edited, this, &TestPage::edited);
}

void TestPage::load(const Experiment& experiment) {
    const TestSpec& test = experiment.test;
    m_kind->setCurrentIndex(m_kind->findData(test.kind));
    m_options->setTestKind(test.kind);
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
        if (!option.knob.isEmpty() && names.contains(option.knob))
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
    const bool of = own != nullptr && row < 0;
    putErrorUnder(m_form, m_error, of ? fieldOf(own->path) : m_warmup);
    setErrorText(m_error, of ? own->text : fieldError());
}

QWidget* TestPage::fieldOf(const QString& path) const {
    return path == QLatin1String("test.kind")      ? static_cast<QWidget*>(m_kind)
           : path == QLatin1String("test.seconds") ? m_seconds
                                                   : m_warmup;
}

/// Options are kept by name: of two, one would vanish in silence.
QString TestPage::fieldError() const {
    const QString twice = duplicateOption();
    return twice.isEmpty() ? QString() : tr("The option %1 is there twice; remove one.").arg(twice);
}

} // namespace knobscope
