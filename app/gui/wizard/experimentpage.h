// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/gui/wizard/problem.h"

#include <QWizardPage>

class QFormLayout;
class QLabel;

namespace knobscope {

/// A page of the wizard that edits one part of the experiment. The wizard collects the parts,
/// checks the whole, and tells each page what is wrong with its own.
class ExperimentPage : public QWizardPage {
    Q_OBJECT
public:
    using QWizardPage::QWizardPage;

    virtual void load(const Experiment& experiment) = 0;
    virtual void store(Experiment& experiment) const = 0;
    /// Shows what is wrong beside what causes it. `experiment` is the whole as it stands.
    void review(const Experiment& experiment, const std::optional<Problem>& problem);
    [[nodiscard]] bool isComplete() const override { return m_fine; }

signals:
    void edited();

protected:
    /// Whether the problem is this page's own.
    [[nodiscard]] virtual bool owns(const Problem& problem) const = 0;
    /// `own`: the page's own problem, null when it has none.
    virtual void display(const Experiment& experiment, const Problem* own) = 0;
    /// What stands in the fields but in no experiment, such as a number that is none. Empty: fine.
    [[nodiscard]] virtual QString fieldError() const { return {}; }

private:
    bool m_fine = false;
};

/// A label for what is wrong: red, wrapping, away when empty.
[[nodiscard]] QLabel* makeErrorLabel(const char* objectName, QWidget* parent);
void setErrorText(QLabel* label, const QString& text);
/// Moves the label to the line below the field that it is about.
void putErrorUnder(QFormLayout* form, QLabel* error, QWidget* field);

} // namespace knobscope
