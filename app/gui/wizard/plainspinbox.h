// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDoubleSpinBox>

namespace knobscope {

/// Takes three decimals and shows those that are there: "2", "0.25". A file's value survives it.
class PlainSpinBox : public QDoubleSpinBox {
public:
    explicit PlainSpinBox(QWidget* parent = nullptr) : QDoubleSpinBox(parent) { setDecimals(3); }

    [[nodiscard]] QString textFromValue(double value) const override {
        return locale()
            .toString(value, 'g', QLocale::FloatingPointShortest)
            .remove(locale().groupSeparator());
    }
};

} // namespace knobscope
