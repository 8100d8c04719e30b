// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/gui/wizard/knobrow.h"

class QPushButton;
class QVBoxLayout;

namespace knobscope {

/// Knob rows one below the other, with a button that adds one.
class KnobRows : public QWidget {
    Q_OBJECT
public:
    KnobRows(KnobRow::Kind kind, const QString& addText, QWidget* parent = nullptr);

    /// Offers what means something to this kind of test.
    void setTestKind(const QString& testKind);
    void setAxes(const QList<Axis>& axes);
    [[nodiscard]] QList<Axis> axes() const;
    /// Shows `text` at one row and at the others what is wrong with their own line.
    void setError(int row, const QString& text);

signals:
    void edited();

private:
    KnobRow* addRow();
    void removeRow(KnobRow* row);
    void renumber();

    KnobRow::Kind m_kind;
    QString m_testKind;
    QList<KnobRow*> m_rows;
    QVBoxLayout* m_layout;
    QPushButton* m_add;
};

} // namespace knobscope
