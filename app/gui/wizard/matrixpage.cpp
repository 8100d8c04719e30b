// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/wizard/matrixpage.h"

#include "app/gui/format.h"
#include "app/gui/looks.h"
#include "app/gui/wizard/exclusioneditor.h"
#include "app/gui/wizard/knobrows.h"
#include "core/model/plan.h"
#include "core/model/plural.h"

#include <QGroupBox>
#include <QLabel>
#include <QVBoxLayout>

namespace knobscope {

MatrixPage::MatrixPage(QWidget* parent)
    : ExperimentPage(parent), m_axes(new KnobRows(KnobRow::Kind::Axis, tr("&Add knob"), this)),
      m_exclusions(new ExclusionEditor(this)), m_error(makeErrorLabel("matrixError", this)),
      m_estimate(new QLabel(this)) {
    setTitle(tr("Knob matrix"));
    setSubTitle(tr("Each knob with the values to try. Every combination is one cell."));
    m_estimate->setObjectName("matrixEstimate");
    QFont strong = m_estimate->font();
    strong.setBold(true);
    m_estimate->setFont(strong);

    auto* excluded = new QGroupBox(tr("Combinations left out"), this);
    auto* excludedLayout = new QVBoxLayout(excluded);
    excludedLayout->addWidget(m_exclusions);
    excluded->setMaximumHeight(190);

    auto* layout = new QVBoxLayout(this);
    layout->addWidget(scrolled(m_axes, this), 1);
    layout->addWidget(excluded);
    layout->addWidget(m_error);
    layout->addWidget(m_estimate);

    connect(m_axes, &KnobRows::edited, this, &MatrixPage::edited);
    connect(m_exclusions, &ExclusionEditor::edited, this, &MatrixPage::edited);
}

void MatrixPage::load(const Experiment& experiment) {
    m_axes->setAxes(experiment.axes);
    m_exclusions->setExclusions(experiment.exclude);
}

void MatrixPage::store(Experiment& experiment) const {
    experiment.axes = m_axes->axes();
    experiment.exclude = m_exclusions->exclusions();
}

bool MatrixPage::owns(const Problem& problem) const {
    return problem.isIn("axes") || problem.isIn("exclude");
}

void MatrixPage::display(const Experiment& experiment, const Problem* own) {
    m_axes->setTestKind(experiment.test.kind);
    const int row = own != nullptr ? own->row("axes") : -1;
    m_axes->setError(row, own != nullptr ? own->text : QString());
    m_exclusions->setAxes(experiment.axes);
    QString text;
    if (own != nullptr && row < 0) {
        const int exclusion = own->row("exclude");
        text =
            exclusion >= 0 ? tr("Exclusion %1: %2").arg(exclusion + 1).arg(own->text) : own->text;
    }
    setErrorText(m_error, text);
    m_estimate->setText(own != nullptr ? tr("The matrix is not complete yet.")
                                       : estimateText(experiment));
}

QString estimateText(const Experiment& experiment) {
    const Estimate estimate = estimateRun(experiment);
    const auto range = [](const QString& low, const QString& high) {
        return low == high ? low : MatrixPage::tr("%1 to %2").arg(low, high);
    };
    const QString samples =
        range(QString::number(estimate.samplesMin), QString::number(estimate.samplesMax));
    const QString time =
        range(durationText(estimate.secondsMin), durationText(estimate.secondsMax));
    return MatrixPage::tr("%1, %2 %3, about %4")
        .arg(counted(estimate.cells, MatrixPage::tr("cell"), MatrixPage::tr("cells")), samples,
             nounFor(estimate.samplesMax, MatrixPage::tr("sample"), MatrixPage::tr("samples")),
             time);
}

} // namespace knobscope
