// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/pages/savedhostdialog.h"

#include "app/gui/wizard/experimentpage.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QDir>
#include <QFileDialog>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QVBoxLayout>

namespace knobscope {

SavedHostDialog::SavedHostDialog(const std::optional<SavedHost>& host, QStringList others,
                                 QWidget* parent)
    : QDialog(parent), m_others(std::move(others)), m_port(new QSpinBox(this)),
      m_sudo(new QComboBox(this)) {
    setObjectName("savedHostDialog");
    setWindowTitle(host ? tr("Edit host") : tr("New host"));
    auto* form = new QFormLayout;
    addField(form, "name", tr("&Name:"), tr("dut"),
             tr("How experiments and commands call the host"));
    addField(form, "ssh", tr("&Address:"), tr("10.0.0.5, dut.example.org or a name that ssh knows"),
             tr("Where ssh goes; what its own configuration says about it holds"));
    addField(form, "user", tr("&User:"), tr("as configured for ssh"), tr("The login there"));
    m_port->setObjectName("hostPort");
    m_port->setRange(0, 65535);
    m_port->setSpecialValueText(tr("as configured for ssh"));
    form->addRow(tr("&Port:"), m_port);
    addError(form, "port");
    addKey(form);
    addField(form, "jump", tr("&Jump hosts:"), tr("as configured for ssh"),
             tr("On the way to the host, in order, as for ssh -J: user@gate:22,inner"));
    m_sudo->setObjectName("hostSudo");
    m_sudo->addItem(tr("By sudo where it asks for no password"), QVariant());
    m_sudo->addItem(tr("By sudo, and ask me for the password"), int(SudoMode::Password));
    m_sudo->addItem(tr("Never: only knobs that need no root"), int(SudoMode::None));
    m_sudo->setToolTip(tr("Most knobs need root. A login as root needs no sudo"));
    form->addRow(tr("&Root's rights:"), m_sudo);
    addField(form, "interface", tr("Test &interface:"), tr("eth1"),
             tr("Where the test traffic goes through; experiments start from it"));
    addField(form, "address", tr("Test a&ddress:"), tr("10.77.0.1"),
             tr("Where the test traffic goes to, in numbers; experiments start from it"));
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Save | QDialogButtonBox::Cancel, this);
    connect(buttons, &QDialogButtonBox::accepted, this, &SavedHostDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto* layout = new QVBoxLayout(this);
    layout->addLayout(form);
    layout->addStretch(1);
    layout->addWidget(buttons);
    constexpr int kWidth = 560;
    setMinimumWidth(kWidth);
    if (host)
        show(*host);
    m_edits[QStringLiteral("name")]->setFocus();
}

QLineEdit* SavedHostDialog::addField(QFormLayout* form, const char* field, const QString& label,
                                     const QString& placeholder, const QString& tip) {
    auto* edit = new QLineEdit(this);
    edit->setObjectName(QStringLiteral("host_%1").arg(QLatin1String(field)));
    edit->setPlaceholderText(placeholder);
    edit->setToolTip(tip);
    m_edits[QLatin1String(field)] = edit;
    form->addRow(label, edit);
    addError(form, field);
    return edit;
}

void SavedHostDialog::addError(QFormLayout* form, const char* field) {
    QLabel* error =
        makeErrorLabel(qPrintable(QStringLiteral("host_%1_error").arg(QLatin1String(field))), this);
    m_errors[QLatin1String(field)] = error;
    form->addRow(error);
}

void SavedHostDialog::addKey(QFormLayout* form) {
    auto* edit = new QLineEdit(this);
    edit->setObjectName("host_key");
    edit->setPlaceholderText(tr("as configured for ssh"));
    edit->setToolTip(tr("File of the private key, tried before those of ssh's configuration"));
    m_edits[QStringLiteral("key")] = edit;
    auto* browse = new QPushButton(tr("&Browse…"), this);
    auto* row = new QHBoxLayout;
    row->addWidget(edit, 1);
    row->addWidget(browse);
    auto* label = new QLabel(tr("&Key file:"), this);
    label->setBuddy(edit);
    form->addRow(label, row);
    addError(form, "key");
    connect(browse, &QPushButton::clicked, this, [this, edit] {
        auto* dialog = new QFileDialog(this, tr("Private key"), QDir::homePath() + "/.ssh");
        dialog->setAttribute(Qt::WA_DeleteOnClose);
        dialog->setFileMode(QFileDialog::ExistingFile);
        dialog->setFilter(dialog->filter() | QDir::Hidden);
        connect(dialog, &QFileDialog::fileSelected, edit, &QLineEdit::setText);
        dialog->open();
    });
}

void SavedHostDialog::show(const SavedHost& host) {
    const auto put = [this](const char* field, const QString& text) {
        m_edits[QLatin1String(field)]->setText(text);
    };
    put("name", host.name);
    put("ssh", host.ssh);
    put("user", host.user);
    put("key", host.key);
    put("jump", host.jump);
    put("address", host.address);
    put("interface", host.interface);
    m_port->setValue(host.port);
    // "auto" of a file is what the first entry says.
    const int sudo = host.sudo ? m_sudo->findData(int(*host.sudo)) : 0;
    m_sudo->setCurrentIndex(std::max(sudo, 0));
}

SavedHost SavedHostDialog::host() const {
    const auto text = [this](const char* field) {
        return m_edits[QLatin1String(field)]->text().trimmed();
    };
    SavedHost host;
    host.name = text("name");
    host.ssh = text("ssh");
    host.user = text("user");
    host.port = m_port->value();
    host.key = text("key");
    host.jump = text("jump");
    host.address = text("address");
    host.interface = text("interface");
    if (const QVariant sudo = m_sudo->currentData(); sudo.isValid())
        host.sudo = static_cast<SudoMode>(sudo.toInt());
    return host;
}

void SavedHostDialog::accept() {
    const SavedHost edited = host();
    Result<void> good = checkSavedHost(edited);
    if (good && m_others.contains(edited.name))
        good =
            fail(Error::Code::BadInput,
                 QStringLiteral("name: ") + tr("another host is called \"%1\"").arg(edited.name));
    for (QLabel* error : m_errors)
        setErrorText(error, {});
    if (good)
        return QDialog::accept();
    const QString text = good.error().text();
    const QString field = text.section(QLatin1Char(':'), 0, 0);
    QString what = text.section(QLatin1Char(':'), 1).trimmed();
    what[0] = what[0].toUpper();
    setErrorText(m_errors.value(field), what);
    if (QLineEdit* edit = m_edits.value(field)) {
        edit->setFocus();
        edit->selectAll();
    }
}

} // namespace knobscope
