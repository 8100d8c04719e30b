// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/gui/appcontext.h"
#include "app/gui/wizard/experimentpage.h"
#include "core/run/preflight.h"

class QLineEdit;
class QProgressBar;

namespace knobscope {

class CheckList;
class HostEditor;

/// First page: name of the experiment and the two hosts, with a check of each on request.
class HostsPage : public ExperimentPage {
    Q_OBJECT
public:
    explicit HostsPage(const AppContext& context, QWidget* parent = nullptr);
    ~HostsPage() override; ///< cancels checks under way

    void load(const Experiment& experiment) override;
    void store(Experiment& experiment) const override;
    /// The name follows what the experiment does until the user gives it another.
    void expectName(const QString& name) { m_suggested = name; }
    void suggestName(const QString& name);

protected:
    bool owns(const Problem& problem) const override;
    void display(const Experiment& experiment, const Problem* own) override;

private:
    void check(HostEditor* editor);
    void forget(HostEditor* editor);
    void showReports();

    const AppContext& m_context;
    CancelToken m_cancel;
    QLineEdit* m_name;
    QLabel* m_nameError;
    HostEditor* m_sender;
    HostEditor* m_receiver;
    CheckList* m_checks;
    QProgressBar* m_busy;
    QString m_suggested;
    QMap<HostEditor*, PreflightReport> m_reports;
    QMap<HostEditor*, int> m_turns; ///< a report of an earlier turn is old
    QMap<HostEditor*, HostSpec> m_checking;
};

} // namespace knobscope
