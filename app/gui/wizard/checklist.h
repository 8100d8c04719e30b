// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/preflight.h"

#include <QTableView>

namespace knobscope {

class TextTableModel;

/// What checks found: one line each, with an icon, and the remedy where one is needed; or what a
/// run changes on the hosts.
class CheckList : public QTableView {
    Q_OBJECT
public:
    explicit CheckList(QWidget* parent = nullptr);

    void setReport(const PreflightReport& report);
    void setChanges(const PreflightReport& report);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void fit();

    TextTableModel* m_model;
};

} // namespace knobscope
