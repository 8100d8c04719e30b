// SPDX-License-Identifier: GPL-3.0-or-later
// Questions on a terminal.
#include "core/host/fd.h"
#include "core/host/ttysecrets.h"

#include <QTest>

#include <array>
#include <future>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <termios.h>

using namespace knobscope;
using namespace std::chrono_literals;
using Code = Error::Code;

namespace {

SecretRequest request(const QString& prompt) {
    SecretRequest request;
    request.kind = SecretRequest::Kind::Password;
    request.host = QStringLiteral("host1");
    request.user = QStringLiteral("op");
    request.prompt = prompt;
    return request;
}

std::string text(const Result<Secret>& secret) {
    return secret ? std::string(secret->view()) : "error: " + secret.error().text().toStdString();
}

} // namespace

class TestHostTty : public QObject {
    Q_OBJECT
private slots:
    void asksOnTheTerminal() {
        Terminal terminal;
        TtySecrets tty(terminal.name());
        SecretRequest question = request(QStringLiteral("Password for op on host1"));
        question.attempt = 2;
        auto answer = std::async(std::launch::async, [&] { return tty.ask(question, {}); });
        const QByteArray shown = terminal.readUntil("host1: ");
        QVERIFY2(shown.contains("not right") && shown.contains("Password for op"), shown);
        QVERIFY(!terminal.echoes());
        terminal.type("s3cret\n");
        QCOMPARE(text(answer.get()), std::string("s3cret"));
        QVERIFY2(!terminal.rest().contains("s3cret"), "what is typed is not shown");
        QVERIFY2(terminal.echoes(), "the terminal is as before");
        // What is no secret may be seen.
        question.echo = true;
        answer = std::async(std::launch::async, [&] { return tty.ask(question, {}); });
        (void)terminal.readUntil("host1: ");
        QVERIFY(terminal.echoes());
        terminal.type("blue\n");
        QCOMPARE(text(answer.get()), std::string("blue"));
    }

    void terminalQuestionEnds_data() {
        QTest::addColumn<QByteArray>("typed"); // empty: cancelled instead
        QTest::newRow("end of input") << QByteArray("\x04");
        QTest::newRow("cancel") << QByteArray();
    }
    void terminalQuestionEnds() {
        QFETCH(QByteArray, typed);
        Terminal terminal;
        TtySecrets tty(terminal.name());
        CancelToken cancel;
        auto answer = std::async(std::launch::async, [&] {
            return tty.ask(request(QStringLiteral("Password")), cancel);
        });
        (void)terminal.readUntil("Password: ");
        if (typed.isEmpty())
            cancel.cancel();
        else
            terminal.type(typed);
        QVERIFY(answer.wait_for(2s) == std::future_status::ready);
        const auto stopped = answer.get();
        QVERIFY(!stopped);
        QCOMPARE(int(stopped.error().code), int(Code::Cancelled));
        QVERIFY(terminal.echoes());
    }

    void withoutATerminalNobodyIsAsked() {
        TtySecrets tty(QStringLiteral("/nonexistent/tty"));
        const auto answer = tty.ask(request(QStringLiteral("Password")), {});
        QVERIFY(!answer);
        QCOMPARE(int(answer.error().code), int(Code::HostUnusable));
        QVERIFY(answer.error().text().contains(QStringLiteral("no terminal")));
    }

    void terminalTrustsOnlyOnYes_data() {
        QTest::addColumn<QByteArray>("typed");
        QTest::addColumn<bool>("trusted");
        QTest::newRow("yes") << QByteArray("yes\n") << true;
        QTest::newRow("no") << QByteArray("no\n") << false;
        QTest::newRow("y") << QByteArray("y\n") << false;
        QTest::newRow("return") << QByteArray("\n") << false;
    }
    void terminalTrustsOnlyOnYes() {
        QFETCH(QByteArray, typed);
        Terminal terminal;
        TtySecrets tty(terminal.name());
        const NewHostKey key{QStringLiteral("a"), QStringLiteral("[a]:22"),
                             QStringLiteral("ssh-rsa"), QStringLiteral("SHA256:xyz")};
        auto answer = std::async(std::launch::async, [&] { return tty.trusts(key, {}); });
        const QByteArray shown = terminal.readUntil("from now on: ");
        QVERIFY2(shown.contains("SHA256:xyz") && shown.contains("[a]:22"), shown);
        terminal.type(typed);
        const auto trusted = answer.get();
        QVERIFY(trusted);
        QTEST(*trusted, "trusted");
    }

private:
    /// The user's side of a terminal.
    class Terminal {
    public:
        Terminal() : m_master(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
            if (grantpt(m_master.get()) != 0 || unlockpt(m_master.get()) != 0)
                qFatal("no terminal");
            m_name = QString::fromLocal8Bit(ptsname(m_master.get()));
            // Held open: a terminal that nobody has open has hung up.
            m_slave = Fd(::open(qPrintable(m_name), O_RDWR | O_NOCTTY | O_CLOEXEC));
        }
        [[nodiscard]] QString name() const { return m_name; }
        [[nodiscard]] bool echoes() const {
            termios state{};
            return tcgetattr(m_slave.get(), &state) == 0 && (state.c_lflag & ECHO) != 0;
        }
        void type(const QByteArray& keys) const {
            QCOMPARE(::write(m_master.get(), keys.data(), size_t(keys.size())), keys.size());
        }
        QByteArray readUntil(const QByteArray& end) const {
            QByteArray shown;
            for (int i = 0; i < 500 && !shown.endsWith(end); ++i)
                shown += some(10);
            // The question stands there a moment before the answer is read.
            std::this_thread::sleep_for(50ms);
            return shown;
        }
        [[nodiscard]] QByteArray rest() const { return some(100); }

    private:
        [[nodiscard]] QByteArray some(int milliseconds) const {
            pollfd wait{m_master.get(), POLLIN, 0};
            std::array<char, 4096> buffer{};
            if (::poll(&wait, 1, milliseconds) != 1)
                return {};
            const ssize_t got = ::read(m_master.get(), buffer.data(), buffer.size());
            return got > 0 ? QByteArray(buffer.data(), qsizetype(got)) : QByteArray();
        }
        Fd m_master;
        Fd m_slave;
        QString m_name;
    };
};

QTEST_GUILESS_MAIN(TestHostTty)
#include "tst_hosttty.moc"
