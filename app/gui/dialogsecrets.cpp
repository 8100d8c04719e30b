// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/dialogsecrets.h"

#include "app/gui/looks.h"

#include <QApplication>
#include <QCheckBox>
#include <QDialogButtonBox>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPointer>
#include <QPushButton>
#include <QVBoxLayout>

#include <future>

namespace knobscope {

namespace {

QString secretText(const char* text) {
    return QCoreApplication::translate("DialogSecrets", text);
}

Error closed() {
    return {Error::Code::Cancelled, secretText("The question was closed")};
}

/// Opens a dialog on the GUI thread and waits for its answer. `open` gets the function to call
/// with it.
template<typename T>
Result<T> answered(const CancelToken& cancel,
                   const std::function<QDialog*(std::function<void(Result<T>)>)>& open) {
    struct Question {
        std::promise<Result<T>> promise;
        bool answered = false;    ///< GUI thread only
        QPointer<QDialog> dialog; ///< likewise
    };
    auto question = std::make_shared<Question>();
    std::future<Result<T>> future = question->promise.get_future();
    const auto answer = [question](Result<T> result) {
        if (!std::exchange(question->answered, true))
            question->promise.set_value(std::move(result));
    };
    QMetaObject::invokeMethod(qApp, [question, answer, open] {
        QDialog* dialog = open(answer);
        question->dialog = dialog;
        dialog->setAttribute(Qt::WA_DeleteOnClose);
        QObject::connect(dialog, &QDialog::rejected, qApp,
                         [answer] { answer(tl::unexpected<Error>(closed())); });
        dialog->open();
    });
    // The user may stop what needs the answer.
    while (future.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready) {
        if (!cancel.cancelled())
            continue;
        QMetaObject::invokeMethod(qApp, [question] {
            if (question->dialog)
                question->dialog->reject();
        });
        return tl::unexpected<Error>(closed());
    }
    return future.get();
}

QString titleOf(const SecretRequest& request) {
    switch (request.kind) {
    case SecretRequest::Kind::KeyPassphrase:
        return secretText("Passphrase of a key");
    case SecretRequest::Kind::KeyboardInteractive:
        return secretText("Login at %1").arg(request.host);
    case SecretRequest::Kind::Password:
        return secretText("Password at %1").arg(request.host);
    case SecretRequest::Kind::SudoPassword:
        return secretText("Password for sudo at %1").arg(request.host);
    }
    return {};
}

QString textOf(const SecretRequest& request) {
    QString text;
    switch (request.kind) {
    case SecretRequest::Kind::KeyPassphrase:
        text = secretText("The key %1, for %2, is locked with a passphrase.")
                   .arg(request.keyFile, request.host);
        break;
    case SecretRequest::Kind::KeyboardInteractive:
        text = request.instruction.isEmpty() ? secretText("%1 asks:").arg(request.host)
                                             : request.instruction;
        break;
    case SecretRequest::Kind::Password:
        text = secretText("%1 asks for the password of %2.").arg(request.host, request.user);
        break;
    case SecretRequest::Kind::SudoPassword:
        text =
            secretText("sudo at %1 asks for the password of %2.").arg(request.host, request.user);
        break;
    }
    if (request.attempt > 1)
        text += QLatin1Char('\n') + secretText("The last answer was wrong.");
    return text;
}

QLabel* plainLabel(const QString& text, QWidget* parent) {
    auto* label = new QLabel(text, parent);
    label->setTextFormat(Qt::PlainText); // it is partly the host's
    label->setWordWrap(true);
    return label;
}

QDialog* secretDialog(const SecretRequest& request, bool canKeep,
                      const std::function<void(Result<Secret>)>& answer) {
    auto* dialog = new QDialog(QApplication::activeWindow());
    dialog->setObjectName("secretDialog");
    dialog->setWindowTitle(titleOf(request));
    auto* edit = new QLineEdit(dialog);
    edit->setObjectName("secretAnswer");
    edit->setEchoMode(request.echo ? QLineEdit::Normal : QLineEdit::Password);
    edit->setMinimumWidth(320);
    auto* keep = new QCheckBox(secretText("&Keep it in the system's keychain"), dialog);
    keep->setObjectName("secretKeep");
    keep->setVisible(canKeep && request.lasting());
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel, dialog);
    auto* layout = new QVBoxLayout(dialog);
    layout->addWidget(plainLabel(textOf(request), dialog));
    auto* prompt = plainLabel(request.prompt, dialog);
    prompt->setBuddy(edit);
    layout->addWidget(prompt);
    layout->addWidget(edit);
    layout->addWidget(keep);
    layout->addWidget(buttons);
    QObject::connect(buttons, &QDialogButtonBox::accepted, dialog, [=] {
        QByteArray bytes = edit->text().toUtf8();
        answer(Secret(std::string_view(bytes.constData(), static_cast<std::size_t>(bytes.size())),
                      keep->isVisible() && keep->isChecked()));
        bytes.fill('\0');
        edit->clear();
        dialog->accept();
    });
    QObject::connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::reject);
    edit->setFocus();
    return dialog;
}

QDialog* keyDialog(const NewHostKey& key, const std::function<void(Result<bool>)>& answer) {
    auto* question = new QMessageBox(
        QMessageBox::Warning, secretText("Unknown host"),
        secretText("This computer has not met %1 before. Is this its key?").arg(key.host),
        QMessageBox::Cancel, QApplication::activeWindow());
    question->setObjectName("hostKeyDialog");
    question->setTextFormat(Qt::PlainText);
    question->setInformativeText(
        secretText(
            "%1\n%2\n\nCompare it with what the host's own console or its administrator says "
            "(ssh-keygen -lf /etc/ssh/ssh_host_*_key.pub). A wrong key means that somebody else "
            "answers in its place.")
            .arg(key.type, key.fingerprint));
    QPushButton* trust =
        question->addButton(secretText("&Trust and remember"), QMessageBox::AcceptRole);
    trust->setObjectName("hostKeyTrusted");
    preferCancel(question);
    QObject::connect(trust, &QPushButton::clicked, question, [answer] { answer(true); });
    return question;
}

} // namespace

Result<Secret> DialogSecrets::ask(const SecretRequest& request, const CancelToken& cancel) {
    // Finding the keychain may take a while: here, not on the GUI thread.
    const bool canKeep = request.lasting() && m_canKeep();
    return answered<Secret>(cancel, [&](const std::function<void(Result<Secret>)>& answer) {
        return secretDialog(request, canKeep, answer);
    });
}

Result<bool> DialogSecrets::trusts(const NewHostKey& key, const CancelToken& cancel) {
    auto trusted = answered<bool>(cancel, [&](const std::function<void(Result<bool>)>& answer) {
        return keyDialog(key, answer);
    });
    // Not trusting is an answer.
    if (!trusted && !cancel.cancelled())
        return false;
    return trusted;
}

} // namespace knobscope
