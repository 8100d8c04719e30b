// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/result.h"

#include <QFrame>

class QLabel;
class QToolButton;

namespace knobscope {

/// A strip at the top of the window that says what happened, in place of modal dialogs. It stays
/// until it is closed or replaced, or, where it belongs to a page, until another page is shown.
class MessageBar : public QFrame {
    Q_OBJECT
public:
    enum class Kind { Information, Warning, Failure };

    explicit MessageBar(QWidget* parent = nullptr);

    void showMessage(Kind kind, const QString& text, const QString& detail = {});
    void showError(const Error& error);
    /// The message shown now goes when another page comes. A new message belongs to none.
    void setPage(const QWidget* page) { m_page = page; }
    /// `page` is what the window shows now.
    void leaveFor(const QWidget* page);
    [[nodiscard]] QString text() const;
    void clear();

private:
    QString m_shown;
    const QWidget* m_page = nullptr;
    QLabel* m_icon;
    QLabel* m_text;
    QToolButton* m_close;
};

} // namespace knobscope
