// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/wizard/hosteditor.h"

#include "app/gui/icons.h"
#include "app/gui/wizard/experimentpage.h"

#include <QCompleter>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QRadioButton>

namespace knobscope {
namespace {

const QString kLoopbackAddress = QStringLiteral("127.0.0.1");
const QString kLoopbackInterface = QStringLiteral("lo");

} // namespace

HostEditor::HostEditor(Side side, const QString& title, QWidget* parent)
    : QGroupBox(title, parent), m_side(side), m_local(new QRadioButton(tr("This computer"), this)),
      m_remote(new QRadioButton(tr("Over SSH:"), this)), m_ssh(new QLineEdit(this)),
      m_choose(new QAction(icon("hosts"), tr("Saved hosts"), this)), m_address(new QLineEdit(this)),
      m_interface(new QLineEdit(this)), m_check(new QPushButton(icon("check"), {}, this)),
      m_further(new QLabel(this)), m_sshError(makeErrorLabel(qPrintable(named("SshError")), this)),
      m_addressError(makeErrorLabel(qPrintable(named("AddressError")), this)),
      m_interfaceError(makeErrorLabel(qPrintable(named("InterfaceError")), this)) {
    m_local->setObjectName(named("Local"));
    m_remote->setObjectName(named("Remote"));
    m_ssh->setObjectName(named("Ssh"));
    m_address->setObjectName(named("Address"));
    m_interface->setObjectName(named("Interface"));
    m_check->setObjectName(named("Check"));
    m_further->setObjectName(named("Further"));
    m_further->hide();
    buildForm();

    connect(m_local, &QRadioButton::toggled, this, &HostEditor::chooseLocal);
    for (QLineEdit* edit : {m_ssh, m_address, m_interface})
        connect(edit, &QLineEdit::textEdited, this, &HostEditor::edited);
    connect(m_ssh, &QLineEdit::textEdited, m_remote, [this] { m_remote->setChecked(true); });
    connect(m_choose, &QAction::triggered, this,
            [this] { m_choose->menu()->popup(m_ssh->mapToGlobal(QPoint(0, m_ssh->height()))); });
    connect(m_check, &QPushButton::clicked, this, &HostEditor::checkRequested);
    m_local->setChecked(true);
}

QString HostEditor::named(const char* part) const {
    return sideName(m_side) + QLatin1String(part);
}

void HostEditor::buildForm() {
    m_ssh->setPlaceholderText(tr("host1 or user@host1"));
    m_ssh->setToolTip(
        tr("A saved host, or a name that ssh knows: your ssh configuration, keys and agent apply"));
    m_choose->setObjectName(named("Choose"));
    m_choose->setToolTip(tr("Choose a saved host"));
    m_choose->setMenu(new QMenu(this));
    m_choose->setVisible(false);
    m_ssh->addAction(m_choose, QLineEdit::TrailingPosition);
    m_ssh->setAccessibleName(tr("SSH name of the %1").arg(sideName(m_side)));
    m_address->setPlaceholderText(tr("10.77.0.1"));
    m_address->setToolTip(
        tr("The address the test traffic goes to, not the one SSH uses. IPv4 or IPv6, in numbers"));
    m_interface->setPlaceholderText(tr("eth1"));
    m_interface->setToolTip(tr("The interface that has the test address"));
    m_check->setToolTip(tr("Connects to the host and says whether it can be used"));

    auto* remote = new QHBoxLayout;
    remote->addWidget(m_remote);
    remote->addWidget(m_ssh, 1);
    setChecking(false);
    auto* first = new QHBoxLayout; // above all messages, so that none of them moves the button
    first->addWidget(m_local, 1);
    first->addWidget(m_check);
    auto* form = new QFormLayout(this);
    form->addRow(first);
    form->addRow(remote);
    form->addRow(m_sshError);
    form->addRow(tr("Test address:"), m_address);
    form->addRow(m_addressError);
    form->addRow(tr("Interface:"), m_interface);
    form->addRow(m_interfaceError);
    m_further->setWordWrap(true);
    form->addRow(m_further);
}

/// The loopback goes with this computer and nothing else, so it comes and goes with the choice;
/// what was typed stays.
void HostEditor::chooseLocal(bool local) {
    if (local && m_address->text().isEmpty() && m_interface->text().isEmpty()) {
        m_address->setText(kLoopbackAddress);
        m_interface->setText(kLoopbackInterface);
    } else if (!local && m_interface->text() == kLoopbackInterface) {
        m_address->clear();
        m_interface->clear();
    }
    emit edited();
}

void HostEditor::setHost(const HostSpec& host) {
    const QSignalBlocker quiet(this);
    (host.local ? m_local : m_remote)->setChecked(true);
    m_ssh->setText(host.ssh);
    m_address->setText(host.address);
    m_interface->setText(host.interface);
}

void HostEditor::setFurther(const QList<HostSpec>& hosts) {
    QStringList names;
    for (const HostSpec& host : hosts)
        names.append(QStringLiteral("%1 (%2)").arg(host.label(), host.address));
    m_further->setText(
        tr("and %1 more: %2").arg(hosts.size()).arg(names.join(QStringLiteral(", "))));
    m_further->setVisible(!hosts.isEmpty());
}

void HostEditor::setSaved(const QList<SavedHost>& hosts) {
    QMenu* menu = m_choose->menu();
    menu->clear();
    QStringList names;
    for (const SavedHost& host : hosts) {
        const QAction* entry =
            menu->addAction(QStringLiteral("%1\t%2").arg(host.name, host.login()));
        connect(entry, &QAction::triggered, this, [this, host] { chooseSaved(host); });
        names << host.name;
    }
    m_choose->setVisible(!hosts.isEmpty());
    auto* completer = new QCompleter(names, m_ssh);
    connect(completer, qOverload<const QString&>(&QCompleter::activated), this,
            [this, hosts](const QString& name) {
                for (const SavedHost& host : hosts) {
                    if (host.name == name)
                        chooseSaved(host);
                }
            });
    m_ssh->setCompleter(completer);
}

/// What is saved of the test network replaces what stands there; what is not, leaves it.
void HostEditor::chooseSaved(const SavedHost& host) {
    m_remote->setChecked(true);
    m_ssh->setText(host.name);
    if (!host.address.isEmpty())
        m_address->setText(host.address);
    if (!host.interface.isEmpty())
        m_interface->setText(host.interface);
    emit edited();
}

HostSpec HostEditor::host() const {
    HostSpec host;
    host.local = m_local->isChecked();
    if (!host.local)
        host.ssh = m_ssh->text().trimmed();
    host.address = m_address->text().trimmed();
    host.interface = m_interface->text().trimmed();
    return host;
}

void HostEditor::setError(const QString& field, const QString& text) {
    const bool address = field == QLatin1String("address");
    const bool interface = field == QLatin1String("interface");
    setErrorText(m_sshError, address || interface ? QString() : text);
    setErrorText(m_addressError, address ? text : QString());
    setErrorText(m_interfaceError, interface ? text : QString());
}

void HostEditor::setChecking(bool checking) {
    const QString text = m_side == Side::Sender ? tr("Check &sender") : tr("Check &receiver");
    m_check->setText(checking ? tr("Checking…") : text);
    if (m_check->minimumWidth() == 0) // the widest text, so that it does not jump
        m_check->setMinimumWidth(m_check->sizeHint().width());
}

} // namespace knobscope
