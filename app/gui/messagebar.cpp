// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/messagebar.h"

#include "app/gui/format.h"
#include "app/gui/icons.h"
#include "app/gui/looks.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>

namespace knobscope {

MessageBar::MessageBar(QWidget* parent)
    : QFrame(parent), m_icon(new QLabel(this)), m_text(new QLabel(this)),
      m_close(new QToolButton(this)) {
    setObjectName("messageBar");
    setFrameShape(QFrame::StyledPanel);
    setAutoFillBackground(true);
    m_text->setObjectName("messageText");
    letWrap(m_text);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_close->setObjectName("messageClose");
    m_close->setIcon(icon("close"));
    m_close->setAutoRaise(true);
    m_close->setToolTip(tr("Close this message"));
    m_close->setAccessibleName(tr("Close this message"));

    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(8, 4, 4, 4);
    layout->addWidget(m_icon, 0, Qt::AlignTop);
    layout->addWidget(m_text, 1);
    layout->addWidget(m_close, 0, Qt::AlignTop);
    connect(m_close, &QToolButton::clicked, this, &MessageBar::clear);
    hide();
}

void MessageBar::showMessage(Kind kind, const QString& text, const QString& detail) {
    const char* name = kind == Kind::Information ? "info"
                       : kind == Kind::Warning   ? "warning"
                                                 : "failed";
    const int size = fontMetrics().height() + 2;
    m_icon->setPixmap(icon(name).pixmap(size, size));
    m_shown = detail.isEmpty() ? text : text + QLatin1Char('\n') + detail;
    m_page = nullptr;
    m_text->setText(breakable(m_shown));
    // A tint of the window's own colour, so that it suits light and dark themes.
    const QColor tint = kind == Kind::Information ? QColor(0x2f, 0x7d, 0xc4)
                        : kind == Kind::Warning   ? QColor(0xd9, 0x92, 0x1a)
                                                  : QColor(0xc8, 0x32, 0x32);
    const QColor base = parentWidget() != nullptr
                            ? parentWidget()->palette().color(QPalette::Window)
                            : QColor(Qt::white);
    const auto mix = [](int a, int b) { return (a * 4 + b) / 5; };
    QPalette colours = palette();
    colours.setColor(QPalette::Window,
                     QColor(mix(base.red(), tint.red()), mix(base.green(), tint.green()),
                            mix(base.blue(), tint.blue())));
    setPalette(colours);
    setAccessibleName(text);
    show();
}

void MessageBar::showError(const Error& error) {
    if (error.code == Error::Code::Cancelled)
        showMessage(Kind::Information, error.message, error.detail);
    else
        showMessage(Kind::Failure, error.message, error.detail);
}

QString MessageBar::text() const {
    return isHidden() ? QString() : m_shown;
}

void MessageBar::clear() {
    m_shown.clear();
    m_page = nullptr;
    m_text->clear();
    hide();
}

void MessageBar::leaveFor(const QWidget* page) {
    if (m_page != nullptr && m_page != page)
        clear();
}

} // namespace knobscope
