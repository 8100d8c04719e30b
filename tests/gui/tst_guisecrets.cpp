// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/dialogsecrets.h"

#include <QApplication>
#include <QCheckBox>
#include <QDialogButtonBox>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>
#include <QTest>

#include <future>

using namespace knobscope;

namespace {

template<typename Widget>
Widget* topLevel(const char* name) {
    for (QWidget* widget : QApplication::topLevelWidgets()) {
        if (widget->objectName() == QLatin1String(name) && widget->isVisible())
            return qobject_cast<Widget*>(widget);
    }
    return nullptr;
}

SecretRequest password() {
    SecretRequest request;
    request.host = QStringLiteral("host1");
    request.user = QStringLiteral("root");
    request.prompt = QStringLiteral("Password:");
    return request;
}

} // namespace

/// The dialogs by which a host is reached, asked for on another thread as a host's login does.
class TestGuiSecrets : public QObject {
    Q_OBJECT
private slots:
    void init() { m_cancel = CancelToken(); }
    void givesTheAnswer();
    void keepsOnlyWhatLasts();
    void saysThatTheLastWasWrong();
    void closingIsCancelled();
    void stoppingClosesTheDialog();
    void unknownKeyIsNotTrustedByDefault();
    void keyIsTrustedByAClick();
    void textOfTheHostIsPlain();

private:
    [[nodiscard]] std::future<Result<Secret>> ask(const SecretRequest& request, bool canKeep) {
        return std::async(std::launch::async, [this, request, canKeep] {
            return DialogSecrets([canKeep] { return canKeep; }).ask(request, m_cancel);
        });
    }
    [[nodiscard]] std::future<Result<bool>> trust(const NewHostKey& key) {
        return std::async(std::launch::async, [this, key] {
            return DialogSecrets([] { return false; }).trusts(key, m_cancel);
        });
    }
    CancelToken m_cancel;
};

template<typename T>
bool ready(std::future<T>& future) {
    return future.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

void TestGuiSecrets::givesTheAnswer() {
    auto asked = ask(password(), false);
    QTRY_VERIFY(topLevel<QDialog>("secretDialog"));
    auto* dialog = topLevel<QDialog>("secretDialog");
    auto* edit = dialog->findChild<QLineEdit*>("secretAnswer");
    QCOMPARE(edit->echoMode(), QLineEdit::Password);
    QVERIFY(!dialog->findChild<QCheckBox*>("secretKeep")->isVisible());
    QVERIFY(dialog->windowTitle().contains(QStringLiteral("host1")));
    edit->setText(QStringLiteral("pä ss")); // keyClicks() knows ASCII only
    QTest::keyClick(edit, Qt::Key_Return);
    QTRY_VERIFY(ready(asked));
    const auto answer = asked.get();
    QVERIFY(answer);
    QCOMPARE(std::string(answer->view()), std::string("p\xc3\xa4 ss"));
    QVERIFY(!answer->keep());
}

void TestGuiSecrets::keepsOnlyWhatLasts() {
    auto asked = ask(password(), true);
    QTRY_VERIFY(topLevel<QDialog>("secretDialog"));
    auto* keep = topLevel<QDialog>("secretDialog")->findChild<QCheckBox*>("secretKeep");
    QVERIFY(keep->isVisible());
    QVERIFY(!keep->isChecked());
    keep->click();
    topLevel<QDialog>("secretDialog")
        ->findChild<QDialogButtonBox*>()
        ->button(QDialogButtonBox::Ok)
        ->click();
    QTRY_VERIFY(ready(asked));
    QVERIFY(asked.get()->keep());

    SecretRequest code = password();
    code.kind = SecretRequest::Kind::KeyboardInteractive;
    code.prompt = QStringLiteral("Verification code:");
    code.echo = true;
    auto second = ask(code, true);
    QTRY_VERIFY(topLevel<QDialog>("secretDialog"));
    auto* dialog = topLevel<QDialog>("secretDialog");
    QCOMPARE(dialog->findChild<QCheckBox*>("secretKeep")->isVisible(), code.lasting());
    QCOMPARE(dialog->findChild<QLineEdit*>("secretAnswer")->echoMode(), QLineEdit::Normal);
    dialog->reject();
    QTRY_VERIFY(ready(second));
}

void TestGuiSecrets::saysThatTheLastWasWrong() {
    SecretRequest request = password();
    request.attempt = 2;
    auto asked = ask(request, false);
    QTRY_VERIFY(topLevel<QDialog>("secretDialog"));
    bool said = false;
    for (const QLabel* label : topLevel<QDialog>("secretDialog")->findChildren<QLabel*>())
        said = said || label->text().contains(QStringLiteral("was wrong"));
    QVERIFY(said);
    topLevel<QDialog>("secretDialog")->reject();
    QTRY_VERIFY(ready(asked));
}

void TestGuiSecrets::closingIsCancelled() {
    auto asked = ask(password(), false);
    QTRY_VERIFY(topLevel<QDialog>("secretDialog"));
    topLevel<QDialog>("secretDialog")->close();
    QTRY_VERIFY(ready(asked));
    const auto answer = asked.get();
    QVERIFY(!answer);
    QCOMPARE(answer.error().code, Error::Code::Cancelled);
}

void TestGuiSecrets::stoppingClosesTheDialog() {
    auto asked = ask(password(), false);
    QTRY_VERIFY(topLevel<QDialog>("secretDialog"));
    m_cancel.cancel();
    QTRY_VERIFY(ready(asked));
    QCOMPARE(asked.get().error().code, Error::Code::Cancelled);
    QTRY_VERIFY(!topLevel<QDialog>("secretDialog"));
}

void TestGuiSecrets::unknownKeyIsNotTrustedByDefault() {
    const NewHostKey key{QStringLiteral("host1"), QStringLiteral("[host1]:2222"),
                         QStringLiteral("ssh-ed25519"), QStringLiteral("SHA256:abcdef")};
    for (const Qt::Key pressed : {Qt::Key_Return, Qt::Key_Escape}) {
        auto asked = trust(key);
        QTRY_VERIFY(topLevel<QMessageBox>("hostKeyDialog"));
        auto* dialog = topLevel<QMessageBox>("hostKeyDialog");
        QVERIFY(dialog->informativeText().contains(QStringLiteral("SHA256:abcdef")));
        QTest::keyClick(dialog, pressed);
        QTRY_VERIFY(ready(asked));
        const auto trusted = asked.get();
        QVERIFY(trusted);
        QVERIFY(!*trusted);
        QTRY_VERIFY(!topLevel<QMessageBox>("hostKeyDialog"));
    }
}

void TestGuiSecrets::keyIsTrustedByAClick() {
    auto asked = trust({QStringLiteral("host1"), QStringLiteral("host1"),
                        QStringLiteral("ssh-ed25519"), QStringLiteral("SHA256:abcdef")});
    QTRY_VERIFY(topLevel<QMessageBox>("hostKeyDialog"));
    topLevel<QMessageBox>("hostKeyDialog")->findChild<QPushButton*>("hostKeyTrusted")->click();
    QTRY_VERIFY(ready(asked));
    const auto trusted = asked.get();
    QVERIFY(trusted);
    QVERIFY(*trusted);
}

/// A host that has been taken over must not dress up its questions.
void TestGuiSecrets::textOfTheHostIsPlain() {
    SecretRequest request = password();
    request.kind = SecretRequest::Kind::KeyboardInteractive;
    request.instruction = QStringLiteral("<b>Knobscope</b> needs your <a href='x'>key</a>");
    request.prompt = QStringLiteral("<img src='x'>");
    auto asked = ask(request, false);
    QTRY_VERIFY(topLevel<QDialog>("secretDialog"));
    for (const QLabel* label : topLevel<QDialog>("secretDialog")->findChildren<QLabel*>())
        QCOMPARE(label->textFormat(), Qt::PlainText);
    topLevel<QDialog>("secretDialog")->reject();
    QTRY_VERIFY(ready(asked));
}

QTEST_MAIN(TestGuiSecrets)
#include "tst_guisecrets.moc"
