// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/wizard/experimentpage.h"

#include <QLabel>

namespace knobscope {

void ExperimentPage::review(const Experiment& experiment, const std::optional<Problem>& problem) {
    const bool own = problem && owns(*problem);
    display(experiment, own ? &*problem : nullptr);
    const bool fine = !own;
    if (fine == m_fine)
        return;
    m_fine = fine;
    emit completeChanged();
}

QLabel* makeErrorLabel(const char* objectName, QWidget* parent) {
    auto* label = new QLabel(parent);
    label->setObjectName(objectName);
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);
    QPalette colours = label->palette();
    // A red that is legible on light and on dark windows.
    const bool dark = colours.color(QPalette::Window).lightness() < 128;
    colours.setColor(QPalette::WindowText,
                     dark ? QColor(0xff, 0x8a, 0x80) : QColor(0xb0, 0x1c, 0x1c));
    label->setPalette(colours);
    label->hide();
    return label;
}

void setErrorText(QLabel* label, const QString& text) {
    label->setText(text);
    label->setVisible(!text.isEmpty());
}

} // namespace knobscope
