// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/gui/appcontext.h"
#include "core/run/preflight.h"

#include <QWizardPage>

#include <functional>

class QCheckBox;
class QLabel;
class QProgressBar;
class QPushButton;

namespace knobscope {

class CheckList;

/// Finds out on the hosts whether the experiment can run. Complete when no check failed, or only
/// single values did and the user wants to leave them out.
class PreflightPage : public QWizardPage {
    Q_OBJECT
public:
    PreflightPage(const AppContext& context, std::function<Experiment()> experiment,
                  QWidget* parent = nullptr);
    ~PreflightPage() override;

    void initializePage() override;
    void cleanupPage() override;
    [[nodiscard]] bool isComplete() const override;
    [[nodiscard]] const PreflightReport& report() const { return m_report; }
    /// The values that the user wants to leave out.
    [[nodiscard]] QList<RefusedValue> leftOut() const;

private:
    void begin();
    void askForCommands(const Experiment& experiment);
    void ask(const Experiment& experiment);
    void display(const PreflightReport& report);
    void offerRest(const Experiment& experiment);
    void tellVerdict();

    const AppContext& m_context;
    std::function<Experiment()> m_experiment;
    CancelToken m_cancel;
    int m_turn = 0; ///< reports of an earlier turn are old
    PreflightReport m_report;
    bool m_asking = false;
    QLabel* m_verdict;
    QProgressBar* m_busy;
    CheckList* m_checks;
    QCheckBox* m_leaveOut;
    QPushButton* m_again;
};

} // namespace knobscope
