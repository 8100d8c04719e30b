// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/host/hoststeps.h"
#include "core/run/preflight.h"

#include <QTableView>

namespace knobscope {

class TextTableModel;
struct Table;

/// What checks found: one line each, with an icon, and the remedy where one is needed; what a
/// run changes on the hosts; or the steps on the way to one.
class CheckList : public QTableView {
    Q_OBJECT
public:
    explicit CheckList(QWidget* parent = nullptr);

    void setReport(const PreflightReport& report);
    void setChanges(const PreflightReport& report);
    void setSteps(const QList<HostStep>& steps);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void show(const Table& table);

    TextTableModel* m_model;
};

} // namespace knobscope
