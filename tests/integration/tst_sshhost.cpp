// SPDX-License-Identifier: GPL-3.0-or-later
// Sessions with real sshds: how they come about, how they are refused, and how they are lost.
#include "core/host/hostsession.h"
#include "core/host/knownhosts.h"
#include "tests/lab/lab.h"

#include <QElapsedTimer>
#include <QFile>
#include <QProcess>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>

#include <csignal>
#include <thread>

#include <unistd.h>

using namespace knobscope;
using namespace std::chrono_literals;
using Code = Error::Code;

namespace {

using Session = Result<std::unique_ptr<HostSession>>;

bool write(const QString& path, const QByteArray& content) {
    QFile file(path);
    return file.open(QIODevice::WriteOnly) && file.write(content) == content.size();
}

QByteArray read(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

bool keygen(const QString& path, const QString& comment) {
    return QProcess::execute(QStringLiteral("ssh-keygen"),
                             {QStringLiteral("-q"), QStringLiteral("-t"), QStringLiteral("ed25519"),
                              QStringLiteral("-N"), QString(), QStringLiteral("-C"), comment,
                              QStringLiteral("-f"), path}) == 0;
}

/// A real ssh-agent while it lives; $SSH_AUTH_SOCK names it.
class KeyRing {
public:
    explicit KeyRing(const QString& socket) {
        // One that was there before may have left its socket.
        QFile::remove(socket);
        m_agent.start(QStringLiteral("ssh-agent"),
                      {QStringLiteral("-D"), QStringLiteral("-a"), socket});
        m_agent.waitForStarted();
        if (!QTest::qWaitFor([&] { return QFile::exists(socket); }, 5000))
            qFatal("no ssh-agent");
        qputenv("SSH_AUTH_SOCK", QFile::encodeName(socket));
    }
    ~KeyRing() {
        qunsetenv("SSH_AUTH_SOCK");
        m_agent.kill();
        m_agent.waitForFinished();
    }
    [[nodiscard]] qint64 pid() const { return m_agent.processId(); }
    bool add(const QString& key) {
        return QProcess::execute(QStringLiteral("ssh-add"), {QStringLiteral("-q"), key}) == 0;
    }

private:
    QProcess m_agent;
};

} // namespace

class TestSshHost : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        if (geteuid() != 0)
            QSKIP("hosts in network namespaces need root");
        qunsetenv("SSH_AUTH_SOCK");
        QVERIFY2(m_lab.up(), qPrintable(m_lab.error()));
        QVERIFY(keygen(m_dir.filePath(QStringLiteral("stranger")), QStringLiteral("stranger")));
    }

    void cleanup() {
        // Tests that harm a host heal it themselves when all goes well; this is for when not.
        if (m_lab.isUp() && QTest::currentTestFailed()) {
            QVERIFY(m_lab.setControlLink(QStringLiteral("host1"), true));
            sh("usermod -s /bin/bash op; rm -f /home/op/.bashrc");
        }
    }

    void bringsTheAgentOnceOnly() {
        const QByteArray count = "ls /var/tmp/knobscope-0 | grep -c ^agent-";
        sh("rm -rf /var/tmp/knobscope-0");
        {
            const Session session = open(QStringLiteral("host1"));
            QVERIFY2(session, why(session));
            QCOMPARE((*session)->hello().hostname, std::string("host1"));
            QCOMPARE((*session)->hello().uid, 0);
            QCOMPARE((*session)->label(), QStringLiteral("host1"));
            auto call = (*session)->call(protocol::method::kEnvironment, Json::object(), 5s);
            const auto environment = call.get();
            QVERIFY2(environment, environment ? "" : qPrintable(environment.error().text()));
            QVERIFY(environment->get<protocol::Environment>().facts.contains("kernel"));
        }
        QCOMPARE(sh(count), QByteArray("1\n"));
        QCOMPARE(sh("stat -c %a /var/tmp/knobscope-0 /var/tmp/knobscope-0/agent-*"),
                 QByteArray("700\n700\n"));
        const QByteArray inode = sh("stat -c %i /var/tmp/knobscope-0/agent-*");
        QElapsedTimer timer;
        timer.start();
        const Session again = open(QStringLiteral("host1"));
        QVERIFY2(again, why(again));
        qInfo("connected to a host that has the agent in %lld ms", timer.elapsed());
        QCOMPARE(sh("stat -c %i /var/tmp/knobscope-0/agent-*"), inode);
    }

    void ordinaryUserHasItsOwnCache() {
        const Session session = open(QStringLiteral("user1"));
        QVERIFY2(session, why(session));
        QCOMPARE((*session)->hello().uid, 7701);
        QCOMPARE(sh("stat -c %u /var/tmp/knobscope-7701"), QByteArray("7701\n"));
    }

    void damagedCacheIsReplaced_data() {
        QTest::addColumn<QByteArray>("damage");
        QTest::newRow("changed") << QByteArray("printf x | dd of=$f conv=notrunc status=none");
        QTest::newRow("cut short") << QByteArray("truncate -s 1000 $f");
        QTest::newRow("empty") << QByteArray(": >$f");
        QTest::newRow("not executable") << QByteArray("chmod 600 $f");
        QTest::newRow("symbolic link") << QByteArray("mv $f /tmp/moved; ln -s /tmp/moved $f");
        QTest::newRow("removed") << QByteArray("rm $f");
    }
    void damagedCacheIsReplaced() {
        QFETCH(QByteArray, damage);
        QVERIFY(open(QStringLiteral("user1")));
        const QByteArray good = sh("sha256sum </var/tmp/knobscope-7701/agent-*");
        sh("f=$(ls /var/tmp/knobscope-7701/agent-*); " + damage);
        const Session session = open(QStringLiteral("user1"));
        QVERIFY2(session, why(session));
        QCOMPARE(sh("sha256sum </var/tmp/knobscope-7701/agent-*"), good);
        QCOMPARE(sh("find /var/tmp/knobscope-7701/ -type f -perm 700 -name 'agent-*' | wc -l"),
                 QByteArray("1\n"));
        QCOMPARE(sh("ls -A /var/tmp/knobscope-7701 | grep -c ^up-"), QByteArray("0\n"));
    }

    void unsafePlacesAreAvoided_data() {
        QTest::addColumn<QByteArray>("prepare");
        const QByteArray k = "/var/tmp/knobscope-7701";
        QTest::newRow("symbolic link") << "mkdir -m 777 /tmp/trap; ln -s /tmp/trap " + k;
        QTest::newRow("of another user") << "mkdir -m 777 " + k;
        QTest::newRow("a file") << "touch " + k;
        QTest::newRow("noexec") << QByteArray("mount -o remount,noexec /var/tmp");
        QTest::newRow("read-only") << QByteArray("mount -o remount,ro /var/tmp");
        QTest::newRow("disk full") << QByteArray("rm -rf /var/tmp/knobscope-0; "
                                                 "mount -o remount,size=16m /var/tmp && "
                                                 "! cat /dev/zero 2>/dev/null >/var/tmp/fill");
        QTest::newRow("others may rename") << QByteArray("chmod 777 /var/tmp");
    }
    void unsafePlacesAreAvoided() {
        QFETCH(QByteArray, prepare);
        sh("rm -rf /var/tmp/knobscope-7701 /tmp/knobscope-7701 /tmp/trap");
        QCOMPARE(sh("{ " + prepare + "; } && echo done"), QByteArray("done\n"));
        const Session session = open(QStringLiteral("user1"));
        const QByteArray agents = sh("ls /tmp/knobscope-7701 | grep -c ^agent-");
        const QByteArray there = sh("ls /var/tmp/knobscope-7701/ 2>/dev/null | wc -l");
        sh("mount -o remount,rw,exec,size=75% /var/tmp; chmod 1777 /var/tmp; "
           "rm -rf /var/tmp/fill /var/tmp/knobscope-7701 /tmp/knobscope-7701 /tmp/trap");
        QVERIFY2(session, why(session));
        QCOMPARE(agents, QByteArray("1\n"));
        QCOMPARE(there, QByteArray("0\n"));
    }

    void keepsThreeBuilds() {
        QVERIFY(open(QStringLiteral("user1")));
        sh("cd /var/tmp/knobscope-7701 && rm -f agent-* && for i in 1 2 3 4 5; do "
           "touch -d \"2001-01-0$i\" agent-$i; done; chown -R 7701 .");
        QVERIFY(open(QStringLiteral("user1")));
        const QByteArray left = sh("ls /var/tmp/knobscope-7701 | sort");
        QVERIFY2(left.contains("agent-5\n") && left.contains("agent-4\n"), left);
        QCOMPARE(left.count('\n'), 3);
    }

    void shellsAndStartFiles_data() {
        QTest::addColumn<QByteArray>("prepare");
        QTest::addColumn<QString>("complaint"); // empty: it works all the same
        const auto works = [](const char* name, const QByteArray& rc) {
            QTest::newRow(name) << QByteArray("cat >/home/op/.bashrc <<'E'\n" + rc + "\nE\n")
                                << QString();
        };
        works("quiet", "");
        works("greeting", "echo Welcome; echo to the lab >&2");
        works("greeting without an end", "printf 'Welcome: '");
        works("8 MB on stderr", "head -c 8000000 /dev/zero >&2");
        works("8 MB on stdout", "head -c 8000000 /dev/zero");
        works("odd settings", "set -u; alias ls='ls -l'; export LC_ALL=de_DE.UTF-8");
        works("a background child", "sleep 4 &");
        QTest::newRow("dash") << QByteArray("usermod -s /bin/dash op") << QString();
        QTest::newRow("nologin") << QByteArray("usermod -s /usr/sbin/nologin op")
                                 << QStringLiteral("not available");
        QTest::newRow("false") << QByteArray("usermod -s /bin/false op")
                               << QStringLiteral("ended with status 1");
        QTest::newRow("start-up file exits")
            << QByteArray("echo 'echo go away; exit 3' >/home/op/.bashrc")
            << QStringLiteral("go away");
        QTest::newRow("start-up file exits silently")
            << QByteArray("echo 'exit 0' >/home/op/.bashrc") << QStringLiteral("said nothing");
        QTest::newRow("file transfer only")
            << QByteArray("echo 'exec /usr/lib/openssh/sftp-server' >/home/op/.bashrc")
            << QStringLiteral("file transfer");
    }
    void shellsAndStartFiles() {
        QFETCH(QByteArray, prepare);
        QFETCH(QString, complaint);
        sh("rm -f /home/op/.bashrc; " + prepare);
        HostOptions o = options();
        if (!complaint.isEmpty())
            o.connectTimeout = 3s; // the account for files only says nothing ever
        const Session session = open(QStringLiteral("user1"), o);
        sh("usermod -s /bin/bash op; rm -f /home/op/.bashrc");
        if (complaint.isEmpty()) {
            QVERIFY2(session, why(session));
            auto ping = (*session)->call(protocol::method::kPing, Json::object(), 5s);
            QVERIFY(ping.get());
        } else {
            QVERIFY(!session);
            QCOMPARE(int(session.error().code), int(Code::HostUnusable));
            QVERIFY2(session.error().text().contains(complaint), why(session));
            QVERIFY2(session.error().message.contains(QStringLiteral("user1")), why(session));
        }
    }

    void hostKeys_data() {
        QTest::addColumn<QByteArray>("known"); // KEY stands for the host's, HOST for its address
        QTest::addColumn<QString>("complaint");
        QTest::addColumn<int>("line");
        const QByteArray other = read(m_dir.filePath(QStringLiteral("stranger.pub")));
        const QByteArray changed = "HOST " + other;
        QTest::newRow("known") << QByteArray("HOST KEY\n") << QString() << 0;
        QTest::newRow("known after others") << changed + "HOST KEY\n" << QString() << 0;
        QTest::newRow("unknown") << QByteArray() << QStringLiteral("not known yet") << 0;
        QTest::newRow("changed") << changed << QStringLiteral("has changed") << 1;
        QTest::newRow("changed after a malformed line")
            << "HOST ssh-ed25519 %%%\n" + changed << QStringLiteral("has changed") << 2;
        QTest::newRow("changed after an unknown type")
            << "HOST ssh-future AAAAC3NzaC1mdXR1cmU=\n" + changed << QStringLiteral("has changed")
            << 2;
        QTest::newRow("revoked") << QByteArray("HOST KEY\n@revoked * KEY\n")
                                 << QStringLiteral("is revoked") << 2;
        QTest::newRow("another kind")
            << QByteArray("HOST ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQ==\n")
            << QStringLiteral("another kind") << 1;
    }
    void hostKeys() {
        QFETCH(QByteArray, known);
        QFETCH(QString, complaint);
        QFETCH(int, line);
        const QString path = m_dir.filePath(QStringLiteral("known"));
        QVERIFY(write(path, fill(known)));
        HostOptions o = options(" UserKnownHostsFile " + path.toUtf8() + "\n");
        const Session session = open(QStringLiteral("lab"), o);
        QCOMPARE(read(path), fill(known));
        if (complaint.isEmpty()) {
            QVERIFY2(session, why(session));
            return;
        }
        QVERIFY(!session);
        QCOMPARE(int(session.error().code), int(Code::HostUnusable));
        const QString text = session.error().text();
        QVERIFY2(text.contains(complaint) && text.contains(QStringLiteral("SHA256:")),
                 why(session));
        if (line > 0)
            QVERIFY2(text.contains(QStringLiteral("%1:%2").arg(path).arg(line)), why(session));
        // A new key may be let in; a changed or revoked one never.
        o.acceptNewHostKeys = true;
        const Session accepted = open(QStringLiteral("lab"), o);
        QCOMPARE(accepted.has_value(), line == 0);
        QCOMPARE(read(path) == fill(known), line > 0);
        o.acceptNewHostKeys = false;
        QCOMPARE(open(QStringLiteral("lab"), o).has_value(), line == 0);
    }

    void hostKeyAlias() {
        const QString path = m_dir.filePath(QStringLiteral("known"));
        QVERIFY(write(path, fill("pool KEY\n")));
        const QByteArray files = " UserKnownHostsFile " + path.toUtf8() + "\n";
        const Session plain = open(QStringLiteral("lab"), options(files));
        QVERIFY(!plain);
        const Session aliased =
            open(QStringLiteral("lab"), options(files + " HostKeyAlias pool\n"));
        QVERIFY2(aliased, why(aliased));
    }

    void refusedKeyIsNamed() {
        const QString key = m_dir.filePath(QStringLiteral("stranger"));
        const Session session = open(
            QStringLiteral("lab"), options(" IdentityFile " + key.toUtf8() + "\n", Identity::None));
        QVERIFY(!session);
        QCOMPARE(int(session.error().code), int(Code::HostUnusable));
        for (const QString& word : {QStringLiteral("root"), QStringLiteral("lab"), key})
            QVERIFY2(session.error().text().contains(word), why(session));
    }

    void keyWithPassphraseIsExplained() {
        const QString key = m_dir.filePath(QStringLiteral("locked"));
        QVERIFY(write(key, read(m_lab.identity())));
        QVERIFY(QFile::setPermissions(key, QFile::ReadOwner | QFile::WriteOwner));
        QCOMPARE(
            QProcess::execute(QStringLiteral("ssh-keygen"),
                              {QStringLiteral("-q"), QStringLiteral("-p"), QStringLiteral("-N"),
                               QStringLiteral("secret"), QStringLiteral("-f"), key}),
            0);
        const HostOptions o =
            options(" IdentityFile " + key.toUtf8() + "\n IdentitiesOnly yes\n", Identity::None);
        const Session session = open(QStringLiteral("lab"), o);
        QVERIFY(!session);
        QVERIFY2(session.error().text().contains(QStringLiteral("passphrase")), why(session));
        // The agent that holds it may use it, though only named keys are allowed.
        KeyRing ring(m_dir.filePath(QStringLiteral("agent")));
        QVERIFY(ring.add(m_dir.filePath(QStringLiteral("stranger"))));
        QVERIFY(ring.add(m_lab.identity()));
        const Session helped = open(QStringLiteral("lab"), o);
        QVERIFY2(helped, why(helped));
    }

    void agentWithManyKeys() {
        KeyRing ring(m_dir.filePath(QStringLiteral("agent")));
        for (int i = 0; i < 8; ++i) {
            const QString key = m_dir.filePath(QStringLiteral("many%1").arg(i));
            QVERIFY(keygen(key, QStringLiteral("many%1").arg(i)));
            QVERIFY(ring.add(key));
        }
        QElapsedTimer timer;
        timer.start();
        const Session refused = open(QStringLiteral("lab"), options({}, Identity::None));
        QVERIFY2(timer.elapsed() < 8000, "refused, not hung");
        QVERIFY(!refused);
        QVERIFY2(refused.error().text().contains(QStringLiteral("many4")), why(refused));
        QVERIFY2(refused.error().text().contains(QStringLiteral("3 more keys")), why(refused));
        // The ninth is the right one: named, it is found.
        QVERIFY(ring.add(m_lab.identity()));
        const Session named =
            open(QStringLiteral("lab"), options(" IdentityFile " + m_lab.identity().toUtf8() +
                                                    ".pub\n IdentitiesOnly yes\n",
                                                Identity::None));
        QVERIFY2(named, why(named));
    }

    void agentWithTheRightKey() {
        KeyRing ring(m_dir.filePath(QStringLiteral("agent")));
        QVERIFY(ring.add(m_dir.filePath(QStringLiteral("stranger"))));
        QVERIFY(ring.add(m_lab.identity()));
        const Session session = open(QStringLiteral("lab"), options({}, Identity::None));
        QVERIFY2(session, why(session));
        const Session only =
            open(QStringLiteral("lab"), options(" IdentitiesOnly yes\n", Identity::None));
        QVERIFY(!only);
        const Session none =
            open(QStringLiteral("lab"), options(" IdentityAgent none\n", Identity::None));
        QVERIFY(!none);
    }

    void stoppedAgentDoesNotHang() {
        KeyRing ring(m_dir.filePath(QStringLiteral("agent")));
        kill(pid_t(ring.pid()), SIGSTOP);
        HostOptions o = options({}, Identity::None);
        o.connectTimeout = 1s;
        QElapsedTimer timer;
        timer.start();
        const Session session = open(QStringLiteral("lab"), o);
        kill(pid_t(ring.pid()), SIGCONT);
        QVERIFY(!session);
        QVERIFY2(session.error().text().contains(QStringLiteral("the ssh-agent")), why(session));
        QVERIFY2(timer.elapsed() < 4000, "the limit counts for the agent too");
    }

    void noCommonAlgorithmIsExplained() {
        const Session session =
            open(QStringLiteral("lab"), options(" KexAlgorithms diffie-hellman-group1-sha1\n"));
        QVERIFY(!session);
        QCOMPARE(int(session.error().code), int(Code::HostUnusable));
        QVERIFY2(session.error().text().contains(QStringLiteral("group1-sha1")), why(session));
    }

    void unreachableHosts_data() {
        QTest::addColumn<QByteArray>("config");
        QTest::addColumn<QString>("complaint");
        QTest::newRow("no sshd at that port") << QByteArray("HostName 127.0.0.1\n Port 1\n")
                                              << QStringLiteral("refuses the connection");
        QTest::newRow("no such name") << QByteArray("HostName no-such-host.invalid\n")
                                      << QStringLiteral("no-such-host.invalid");
        QTest::newRow("no route") << QByteArray("HostName 240.0.0.1\n") << QString();
    }
    void unreachableHosts() {
        QFETCH(QByteArray, config);
        QFETCH(QString, complaint);
        const QString path = m_dir.filePath(QStringLiteral("config"));
        QVERIFY(write(path, "Host lab\n " + config));
        HostOptions o;
        o.sshConfig = path;
        o.connectTimeout = 3s;
        QElapsedTimer timer;
        timer.start();
        const Session session = open(QStringLiteral("lab"), o);
        QVERIFY(timer.elapsed() < 6000);
        QVERIFY(!session);
        QCOMPARE(int(session.error().code), int(Code::HostUnusable));
        QVERIFY2(session.error().text().contains(complaint), why(session));
    }

    void cancelIsQuick() {
        QVERIFY(m_lab.setControlLink(QStringLiteral("host1"), false));
        CancelToken cancel;
        HostOptions o = options();
        o.connectTimeout = 30s;
        std::chrono::steady_clock::time_point asked;
        std::thread canceller([&] {
            std::this_thread::sleep_for(300ms);
            asked = std::chrono::steady_clock::now();
            cancel.cancel();
        });
        const Session session = HostSession::open(spec(QStringLiteral("host1")), o, cancel);
        const auto ended = std::chrono::steady_clock::now();
        canceller.join();
        QVERIFY(m_lab.setControlLink(QStringLiteral("host1"), true));
        QVERIFY(!session);
        QCOMPARE(int(session.error().code), int(Code::Cancelled));
        QVERIFY2(ended - asked < 500ms, "a cancel is seen at once");
    }

    void twoAtOnce() {
        std::array<Session, 2> sessions{tl::unexpected<Error>(Error{}),
                                        tl::unexpected<Error>(Error{})};
        std::thread other([&] { sessions[1] = open(QStringLiteral("host2")); });
        sessions[0] = open(QStringLiteral("host1"));
        other.join();
        for (const Session& session : sessions)
            QVERIFY2(session, why(session));
        QCOMPARE((*sessions[0])->hello().hostname, std::string("host1"));
        QCOMPARE((*sessions[1])->hello().hostname, std::string("host2"));
    }

    void closingLeavesNothingRunning() {
        Session session = open(QStringLiteral("host1"));
        QVERIFY2(session, why(session));
        QVERIFY(!agents().isEmpty());
        QElapsedTimer timer;
        timer.start();
        session->reset();
        QVERIFY(timer.elapsed() < 2500);
        QTRY_VERIFY_WITH_TIMEOUT(agents().isEmpty(), 5000);
    }

    void killedAgentIsNoticedAtOnce() {
        const Session session = open(QStringLiteral("host1"));
        QVERIFY2(session, why(session));
        for (const qint64 pid : agents())
            kill(pid_t(pid), SIGKILL);
        QTRY_VERIFY_WITH_TIMEOUT((*session)->lost(), 3000);
        auto call = (*session)->call(protocol::method::kPing, Json::object(), 5s);
        QCOMPARE(int(call.get().error().code), int(Code::LinkLost));
    }

    void killedSshdIsNoticedAtOnce() {
        const Session session = open(QStringLiteral("host1"));
        QVERIFY2(session, why(session));
        QVERIFY(m_lab.setSshd(QStringLiteral("host1"), false));
        QTRY_VERIFY_WITH_TIMEOUT((*session)->lost(), 3000);
        // Without sshd there is nothing to connect to.
        const Session refused = open(QStringLiteral("host1"));
        QVERIFY(m_lab.setSshd(QStringLiteral("host1"), true));
        QVERIFY(!refused);
        QVERIFY2(refused.error().text().contains(QStringLiteral("refuses the connection")),
                 why(refused));
        QTRY_VERIFY_WITH_TIMEOUT(open(QStringLiteral("host1")).has_value(), 10000);
    }

    void silentCutIsNoticedInTime() {
        HostOptions o = options();
        o.pingInterval = 200ms;
        o.lostAfter = 1500ms;
        const Session session = open(QStringLiteral("host1"), o);
        QVERIFY2(session, why(session));
        QElapsedTimer timer;
        timer.start();
        QVERIFY(m_lab.setControlLink(QStringLiteral("host1"), false));
        auto call = (*session)->call(protocol::method::kPing, Json::object(), 60s);
        const auto result = call.get();
        const qint64 took = timer.elapsed();
        QVERIFY(m_lab.setControlLink(QStringLiteral("host1"), true));
        QVERIFY(!result);
        QCOMPARE(int(result.error().code), int(Code::LinkLost));
        QVERIFY2(took < 1500 + 1000, qPrintable(QString::number(took)));
    }

    void stoppedAgentIsNoticedInTime() {
        HostOptions o = options();
        o.pingInterval = 200ms;
        o.lostAfter = 1500ms;
        const Session session = open(QStringLiteral("host1"), o);
        QVERIFY2(session, why(session));
        const QList<qint64> stopped = agents();
        for (const qint64 pid : stopped)
            kill(pid_t(pid), SIGSTOP);
        QElapsedTimer timer;
        timer.start();
        QTRY_VERIFY_WITH_TIMEOUT((*session)->lost(), 5000);
        const qint64 took = timer.elapsed();
        for (const qint64 pid : stopped)
            kill(pid_t(pid), SIGCONT);
        QVERIFY2(took < 1500 + 1000, qPrintable(QString::number(took)));
    }

    void thisComputer() {
        HostSpec here;
        here.local = true;
        Session session = HostSession::open(here, options(), {});
        QVERIFY2(session, why(session));
        QCOMPARE((*session)->hello().uid, int(geteuid()));
        const auto guardian = pid_t((*session)->hello().guardian_pid);
        QVERIFY(kill(guardian, 0) == 0);
        session->reset();
        QVERIFY2(kill(guardian, 0) != 0, "it has ended when the session has");
    }

private:
    enum class Identity { Lab, None };

    static HostSpec spec(const QString& name) {
        HostSpec host;
        host.ssh = name;
        return host;
    }

    /// The lab's own configuration, or one for a host "lab" with more options.
    HostOptions options() const {
        HostOptions o;
        o.run = QStringLiteral("test");
        o.sshConfig = m_lab.sshConfig();
        return o;
    }
    HostOptions options(const QByteArray& more, Identity identity = Identity::Lab) {
        QByteArray config = "Host lab\n HostName " + m_lab.host(0).controlAddress.toUtf8() +
                            "\n User root\n" + more;
        if (identity == Identity::Lab)
            config += " IdentityFile " + m_lab.identity().toUtf8() + "\n";
        else if (!more.contains("IdentityFile"))
            config += " IdentityFile none\n";
        config += " UserKnownHostsFile " + m_lab.knownHosts().toUtf8() +
                  "\n GlobalKnownHostsFile none\n HashKnownHosts no\n";
        HostOptions o = options();
        o.sshConfig = m_dir.filePath(QStringLiteral("config"));
        if (!write(o.sshConfig, config))
            qFatal("cannot write the configuration");
        return o;
    }

    Session open(const QString& name) const { return open(name, options()); }
    static Session open(const QString& name, const HostOptions& o) {
        return HostSession::open(spec(name), o, {});
    }
    static const char* why(const Session& session) {
        static QByteArray text;
        text = session ? QByteArray() : session.error().text().toUtf8();
        return text.constData();
    }

    QByteArray sh(const QByteArray& command) const {
        return m_lab
            .exec(QStringLiteral("host1"),
                  {QStringLiteral("sh"), QStringLiteral("-c"), QString::fromUtf8(command)})
            .out;
    }
    QList<qint64> agents() const {
        return m_lab.pids(QStringLiteral("host1"), QStringLiteral("/agent-[0-9a-f]{64}"));
    }
    QByteArray fill(QByteArray text) const {
        return text.replace("KEY", m_lab.host(0).hostKey.toUtf8())
            .replace("HOST", m_lab.host(0).controlAddress.toUtf8());
    }

    test::Lab m_lab;
    QTemporaryDir m_dir;
};

QTEST_GUILESS_MAIN(TestSshHost)
#include "tst_sshhost.moc"
