// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/looks.h"

#include <QAbstractItemView>
#include <QLabel>
#include <QMessageBox>
#include <QPainter>
#include <QPushButton>
#include <QScreen>
#include <QScrollArea>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace knobscope {
namespace {

/// Relative luminance as WCAG 2 defines it.
double luminance(const QColor& colour) {
    const auto linear = [](double part) {
        return part <= 0.03928 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF()) +
           0.0722 * linear(colour.blueF());
}

double contrast(const QColor& one, const QColor& other) {
    const double a = luminance(one);
    const double b = luminance(other);
    return (std::max(a, b) + 0.05) / (std::min(a, b) + 0.05);
}

QColor blend(const QColor& base, const QColor& ink, double part) {
    const auto mix = [part](int from, int to) {
        return static_cast<int>(std::lround(from + (to - from) * part));
    };
    return {mix(base.red(), ink.red()), mix(base.green(), ink.green()),
            mix(base.blue(), ink.blue())};
}

} // namespace

bool isDark(const QPalette& palette) {
    return palette.color(QPalette::Window).lightness() < 128;
}

QPalette withReadableHints(QPalette palette) {
    constexpr double kReadable = 4.5; // WCAG 2, level AA
    constexpr double kInk = 0.68;
    for (const auto group : {QPalette::Active, QPalette::Inactive, QPalette::Disabled}) {
        const QColor base = palette.color(group, QPalette::Base);
        const QColor window = palette.color(group, QPalette::Window);
        QColor hint = palette.color(group, QPalette::PlaceholderText);
        hint = blend(base, hint, hint.alphaF());
        if (contrast(hint, base) < kReadable || contrast(hint, window) < kReadable)
            hint = blend(base, palette.color(QPalette::Active, QPalette::Text), kInk);
        palette.setColor(group, QPalette::PlaceholderText, hint);
    }
    return palette;
}

void letWrap(QLabel* label) {
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    QSizePolicy policy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    policy.setHeightForWidth(true);
    label->setSizePolicy(policy);
    label->setMinimumWidth(1);
}

void makeHint(QLabel* label) {
    label->setForegroundRole(QPalette::PlaceholderText);
}

QWidget* scrolled(QWidget* content, QWidget* parent) {
    auto* inner = new QWidget(parent);
    auto* layout = new QVBoxLayout(inner);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(content);
    layout->addStretch(1);
    auto* scroll = new QScrollArea(parent);
    scroll->setWidget(inner);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    inner->setAutoFillBackground(false); // what is behind shows through
    scroll->viewport()->setAutoFillBackground(false);
    return scroll;
}

QSize fittingSize(const QWidget* window, QSize wished) {
    constexpr QSize kFrame(8, 40);
    const QScreen* screen = window->screen();
    return screen == nullptr ? wished
                             : wished.boundedTo(screen->availableGeometry().size() - kFrame);
}

void preferCancel(QMessageBox* question) {
    question->setDefaultButton(QMessageBox::Cancel);
    question->setEscapeButton(QMessageBox::Cancel);
    for (QAbstractButton* button : question->buttons()) {
        if (auto* push = qobject_cast<QPushButton*>(button))
            push->setAutoDefault(question->standardButton(button) == QMessageBox::Cancel);
    }
}

void paintNote(QAbstractItemView* view, const QString& text) {
    QPainter painter(view->viewport());
    painter.setPen(view->palette().color(QPalette::PlaceholderText));
    painter.drawText(view->viewport()->rect().adjusted(12, 12, -12, -12),
                     Qt::AlignCenter | Qt::TextWordWrap, text);
}

} // namespace knobscope
