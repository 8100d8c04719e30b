// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/wizard/planpage.h"

#include "app/gui/wizard/matrixpage.h"
#include "app/gui/wizard/plainspinbox.h"

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QRegularExpressionValidator>
#include <QSpinBox>
#include <QVBoxLayout>

namespace knobscope {

PlanPage::PlanPage(QWidget* parent)
    : ExperimentPage(parent), m_form(new QFormLayout), m_repeatsMin(new QSpinBox(this)),
      m_repeatsMax(new QSpinBox(this)), m_level(new PlainSpinBox(this)),
      m_halfWidth(new PlainSpinBox(this)), m_order(new QComboBox(this)),
      m_seed(new QLineEdit(this)), m_pause(new PlainSpinBox(this)), m_retries(new QSpinBox(this)),
      m_error(makeErrorLabel("planError", this)), m_estimate(new QLabel(this)) {
    setTitle(tr("Plan"));
    setSubTitle(tr("A cell is measured until its mean is known well enough, or often enough."));
    m_repeatsMin->setObjectName("repeatsMin");
    m_repeatsMax->setObjectName("repeatsMax");
    m_level->setObjectName("confidenceLevel");
    m_halfWidth->setObjectName("halfWidth");
    m_order->setObjectName("order");
    m_seed->setObjectName("seed");
    m_pause->setObjectName("pause");
    m_retries->setObjectName("retries");
    m_estimate->setObjectName("planEstimate");
    build();

    for (QSpinBox* box : {m_repeatsMin, m_repeatsMax, m_retries})
        connect(box, &QSpinBox::valueChanged, this, &PlanPage::edited);
    for (QDoubleSpinBox* box : {m_level, m_halfWidth, m_pause})
        connect(box, &QDoubleSpinBox::valueChanged, this, &PlanPage::edited);
    connect(m_order, &QComboBox::currentIndexChanged, this, &PlanPage::edited);
    connect(m_seed, &QLineEdit::textEdited, this, &PlanPage::edited);
}

void PlanPage::build() {
    // Numbers that make no sense can be typed: they are refused, not corrected in silence.
    m_repeatsMin->setRange(0, 1000);
    m_repeatsMin->setToolTip(tr("Every cell gets at least this many samples"));
    m_repeatsMax->setRange(0, 1000);
    m_repeatsMax->setToolTip(
        tr("No cell gets more. The same as the fewest: a fixed number of repeats"));
    m_level->setRange(0, 100);
    m_level->setSuffix(tr(" %"));
    m_level->setToolTip(tr("Confidence level of the intervals (Student's t)"));
    m_halfWidth->setRange(0, 100);
    m_halfWidth->setPrefix(tr("± "));
    m_halfWidth->setSuffix(tr(" % of the mean"));
    m_halfWidth->setToolTip(tr("A cell needs no more samples once its interval is this narrow"));
    m_order->addItem(tr("Randomised blocks: each block has every cell once"), true);
    m_order->addItem(tr("As in the matrix, over and over"), false);
    m_order->setToolTip(
        tr("Blocks keep slow drifts of the hosts from looking like an effect of a knob"));
    m_seed->setValidator(
        new QRegularExpressionValidator(QRegularExpression(QStringLiteral("\\d{1,20}")), m_seed));
    m_seed->setToolTip(tr("The same seed gives the same order"));
    m_pause->setRange(0, 86400);
    m_pause->setSuffix(tr(" s"));
    m_retries->setRange(0, 100);
    m_retries->setToolTip(tr("Further attempts at a sample that failed"));
    QFont strong = m_estimate->font();
    strong.setBold(true);
    m_estimate->setFont(strong);

    m_form->addRow(tr("&Fewest repeats:"), m_repeatsMin);
    m_form->addRow(tr("&Most repeats:"), m_repeatsMax);
    m_form->addRow(tr("Confidence &level:"), m_level);
    m_form->addRow(tr("Enough &when within:"), m_halfWidth);
    m_form->addRow(tr("&Order:"), m_order);
    m_form->addRow(tr("&Seed:"), m_seed);
    m_form->addRow(tr("&Pause between samples:"), m_pause);
    m_form->addRow(tr("&Retries of a failed sample:"), m_retries);
    m_form->setFieldGrowthPolicy(QFormLayout::FieldsStayAtSizeHint);
    for (QWidget* field : std::initializer_list<QWidget*>{m_repeatsMin, m_repeatsMax, m_level,
                                                          m_halfWidth, m_seed, m_pause, m_retries})
        field->setMinimumWidth(180);
    auto* layout = new QVBoxLayout(this);
    layout->addLayout(m_form);
    layout->addStretch(1);
    layout->addWidget(m_estimate);
}

void PlanPage::load(const Experiment& experiment) {
    const PlanSpec& plan = experiment.plan;
    m_repeatsMin->setValue(plan.repeatsMin);
    m_repeatsMax->setValue(plan.repeatsMax);
    m_level->setValue(plan.confidenceLevel * 100);
    m_halfWidth->setValue(plan.halfWidthPercent);
    m_order->setCurrentIndex(m_order->findData(plan.blocks));
    m_seed->setText(QString::number(plan.seed));
    m_pause->setValue(plan.pauseSeconds);
    m_retries->setValue(plan.retries);
}

void PlanPage::store(Experiment& experiment) const {
    PlanSpec& plan = experiment.plan;
    plan.repeatsMin = m_repeatsMin->value();
    plan.repeatsMax = m_repeatsMax->value();
    plan.confidenceLevel = m_level->value() / 100;
    plan.halfWidthPercent = m_halfWidth->value();
    plan.blocks = m_order->currentData().toBool();
    plan.seed = m_seed->text().toULongLong();
    plan.pauseSeconds = m_pause->value();
    plan.retries = m_retries->value();
}

bool PlanPage::owns(const Problem& problem) const {
    return problem.isIn("plan");
}

QString PlanPage::fieldError() const {
    bool number = false;
    (void)m_seed->text().toULongLong(&number);
    return number ? QString()
           : m_seed->text().isEmpty()
               ? tr("Give a seed: a whole number.")
               : tr("The seed is too large; it must be at most 18446744073709551615.");
}

QWidget* PlanPage::fieldOf(const QString& path) const {
    if (path == QLatin1String("plan.repeats.min"))
        return m_repeatsMin;
    if (path.startsWith(QLatin1String("plan.repeats")))
        return m_repeatsMax;
    if (path == QLatin1String("plan.confidence.level"))
        return m_level;
    if (path.startsWith(QLatin1String("plan.confidence")))
        return m_halfWidth;
    if (path == QLatin1String("plan.pause_seconds"))
        return m_pause;
    return m_retries;
}

void PlanPage::display(const Experiment& experiment, const Problem* own) {
    const bool fixed = m_repeatsMin->value() == m_repeatsMax->value();
    m_halfWidth->setEnabled(!fixed);
    putErrorUnder(m_form, m_error, own != nullptr ? fieldOf(own->path) : m_seed);
    setErrorText(m_error, own != nullptr ? own->text : fieldError());
    m_estimate->setText(own != nullptr ? QString() : estimateText(experiment));
}

} // namespace knobscope
