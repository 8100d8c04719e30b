// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/experiment.h"
#include "core/result.h"

#include <QWidget>

class QComboBox;
class QLabel;
class QLineEdit;
class QToolButton;

namespace knobscope {

/// A knob with its values: an axis of the matrix, or (without a side) a fixed option of the test.
/// Object names end in the row's number: "axisKnob0", "axisSide0", "axisValues0", "axisRemove0".
class KnobRow : public QWidget {
    Q_OBJECT
public:
    enum class Kind { Axis, Option };

    KnobRow(Kind kind, QWidget* parent = nullptr);

    /// Offers the knobs that mean something to this kind of test.
    void setTestKind(const QString& testKind);

    void setNumber(int number);
    void setAxis(const Axis& axis);
    /// The values as far as they can be read; an open quote is in valueError().
    [[nodiscard]] Axis axis() const;
    [[nodiscard]] QString valueError() const;
    /// An error in red; while the row is only begun, what is still to be filled in.
    void setError(const QString& text);

signals:
    void edited();
    void removeRequested();

private:
    void build();
    void followKnob();

    Kind m_kind;
    QString m_testKind;
    QList<QLabel*> m_headings;
    QComboBox* m_knob;
    QComboBox* m_side;
    QLineEdit* m_values;
    QToolButton* m_remove;
    QLabel* m_help;
    QLabel* m_todo;
    QLabel* m_error;
};

} // namespace knobscope
