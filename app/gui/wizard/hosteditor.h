// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/host/savedhosts.h"

#include <QGroupBox>

class QAction;
class QLabel;
class QLineEdit;
class QPushButton;
class QRadioButton;

namespace knobscope {

/// One host of the experiment: this computer or an SSH name, with test address and interface; and
/// which further hosts its side has, to be seen.
/// Object names begin with the side: "senderLocal", "senderSsh", "senderAddress"...
class HostEditor : public QGroupBox {
    Q_OBJECT
public:
    HostEditor(Side side, const QString& title, QWidget* parent = nullptr);

    void setHost(const HostSpec& host);
    [[nodiscard]] HostSpec host() const;
    void setFurther(const QList<HostSpec>& hosts);
    /// Those that can be chosen by name; one that is chosen brings its test interface and address.
    void setSaved(const QList<SavedHost>& hosts);
    /// Under the field it is about: "ssh", "address", "interface"; an unknown one is the first.
    void setError(const QString& field, const QString& text);
    /// The button says so; it stays enabled, since the focus may be on it.
    void setChecking(bool checking);

signals:
    void edited();
    void checkRequested();

private:
    void buildForm();
    void chooseLocal(bool local);
    void chooseSaved(const SavedHost& host);
    [[nodiscard]] QString named(const char* part) const;

    Side m_side;
    QRadioButton* m_local;
    QRadioButton* m_remote;
    QLineEdit* m_ssh;
    QAction* m_choose;
    QLineEdit* m_address;
    QLineEdit* m_interface;
    QPushButton* m_check;
    QLabel* m_further;
    QLabel* m_sshError;
    QLabel* m_addressError;
    QLabel* m_interfaceError;
};

} // namespace knobscope
