// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/preflight.h"

#include <QTreeView>

namespace knobscope {

class TextTableModel;

/// What checks found: one line each, with an icon, and the remedy where one is needed.
class CheckList : public QTreeView {
    Q_OBJECT
public:
    explicit CheckList(QWidget* parent = nullptr);

    void setReport(const PreflightReport& report);

private:
    TextTableModel* m_model;
};

} // namespace knobscope
