// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/wizard/experimentpage.h"

#include "app/gui/looks.h"

#include <QFormLayout>
#include <QLabel>

namespace knobscope {

void ExperimentPage::review(const Experiment& experiment, const std::optional<Problem>& problem) {
    const bool own = problem && owns(*problem);
    display(experiment, own ? &*problem : nullptr);
    const bool fine = !own && fieldError().isEmpty();
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
    colours.setColor(QPalette::WindowText,
                     isDark(colours) ? QColor(0xff, 0x8a, 0x80) : QColor(0xb0, 0x1c, 0x1c));
    label->setPalette(colours);
    label->hide();
    return label;
}

void setErrorText(QLabel* label, const QString& text) {
    label->setText(text);
    label->setVisible(!text.isEmpty());
}

void putErrorUnder(QFormLayout* form, QLabel* error, QWidget* field) {
    const auto rowOf = [form](QWidget* widget) {
        int row = -1;
        QFormLayout::ItemRole role = QFormLayout::SpanningRole;
        form->getWidgetPosition(widget, &row, &role);
        return row;
    };
    if (rowOf(error) == rowOf(field) + 1)
        return;
    if (rowOf(error) >= 0) {
        const QFormLayout::TakeRowResult taken = form->takeRow(error);
        delete taken.labelItem;
        delete taken.fieldItem;
    }
    form->insertRow(rowOf(field) + 1, error);
}

} // namespace knobscope
