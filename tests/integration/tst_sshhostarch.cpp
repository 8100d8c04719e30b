// SPDX-License-Identifier: GPL-3.0-or-later
// Hosts of other architectures: which build of the agent they get, and that it runs. The host is
// one of the lab that calls itself something else; qemu-user runs the agent there.
#include "core/host/agentbinary.h"
#include "tests/lab/sshlab.h"

#include <QDir>
#include <QFile>
#include <QStandardPaths>
#include <QTest>

#include <sys/utsname.h>
#include <unistd.h>

using namespace knobscope;
using namespace knobscope::test;
using namespace std::chrono_literals;

namespace {
const QString kForeign = QStringLiteral("aarch64");
}

class TestSshHostArch : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        if (geteuid() != 0)
            QSKIP("hosts in network namespaces need root");
        utsname system{};
        uname(&system);
        m_own = QString::fromLatin1(system.machine);
        QVERIFY2(m_lab.up(), qPrintable(m_lab.error()));
    }
    void init() {
        const QString folder = m_lab.path(QStringLiteral("agents"));
        QDir(folder).removeRecursively();
        QVERIFY(QDir().mkpath(folder));
        const QString own = QStringLiteral("/knobscope-agent-") + m_own;
        QVERIFY(QFile::copy(QStringLiteral(KNOBSCOPE_BINARY_DIR) + own, folder + own));
        qputenv("KNOBSCOPE_AGENT_DIR", QFile::encodeName(folder));
    }
    void cleanup() {
        qunsetenv("KNOBSCOPE_AGENT_DIR");
        m_lab.sh("[ -e /usr/bin/uname.own ] && mv /usr/bin/uname.own /usr/bin/uname");
    }

    void unsupportedOneIsNamed() {
        pretendToBe("riscv64");
        const Session session = m_lab.open(QStringLiteral("host1"));
        QVERIFY(!session);
        QCOMPARE(int(session.error().code), int(Error::Code::HostUnusable));
        for (const QString& word : {QStringLiteral("host1 is a riscv64 machine"), m_own})
            QVERIFY2(session.error().text().contains(word), SshLab::why(session));
    }

    void eachGetsItsOwn() {
        if (!QFile::exists(foreignAgent()) ||
            QStandardPaths::findExecutable(QStringLiteral("qemu-aarch64")).isEmpty())
            QSKIP("needs an agent for aarch64 (a cross compiler) and qemu-user");
        QVERIFY(packForQemu());
        pretendToBe(kForeign.toLatin1());
        HostOptions o = m_lab.options();
        o.connectTimeout = 30s;
        o.lostAfter = 20s;
        const Session foreign = m_lab.open(QStringLiteral("host1"), o);
        QVERIFY2(foreign, SshLab::why(foreign));
        QCOMPARE((*foreign)->hello().arch, kForeign.toStdString());
        // It is the whole agent: it reads the host's facts, and sets a knob and puts it back.
        auto facts = (*foreign)->call(protocol::method::kEnvironment,
                                      protocol::InterfaceParams{"test0"}, 30s);
        const auto environment = facts.get();
        QVERIFY2(environment, environment ? "" : qPrintable(environment.error().text()));
        QVERIFY(environment->get<protocol::Environment>().facts.contains("link.mtu"));
        const Json setting =
            std::vector{protocol::KnobSetting{"sysctl:net.ipv4.tcp_retries2", "", "11"}};
        QVERIFY((*foreign)->call(protocol::method::kKnobApply, setting, 30s).get());
        QCOMPARE(m_lab.sh("cat /proc/sys/net/ipv4/tcp_retries2"), QByteArray("11\n"));
        QVERIFY((*foreign)->call(protocol::method::kKnobRestore, Json::object(), 30s).get());
        QCOMPARE(m_lab.sh("cat /proc/sys/net/ipv4/tcp_retries2"), QByteArray("15\n"));

        const Session own = m_lab.open(QStringLiteral("host2"), o);
        QVERIFY2(own, SshLab::why(own));
        QCOMPARE((*own)->hello().arch, m_own.toStdString());
    }

private:
    static QString foreignAgent() {
        return QStringLiteral(KNOBSCOPE_BINARY_DIR "/knobscope-agent-") + kForeign;
    }

    /// The agent for the other architecture, in a script that runs it by qemu: this machine's
    /// kernel need not know how to start it.
    static bool packForQemu() {
        const QByteArray head = "#!/bin/sh\n"
                                "f=$(mktemp /tmp/agent-XXXXXX) && tail -n +4 \"$0\" >\"$f\" && "
                                "chmod 700 \"$f\"\n"
                                "exec qemu-aarch64 \"$f\"\n";
        const QString path = QString::fromLocal8Bit(qgetenv("KNOBSCOPE_AGENT_DIR")) +
                             QStringLiteral("/knobscope-agent-") + kForeign;
        return writeFile(path, head + readFile(foreignAgent()));
    }

    void pretendToBe(const QByteArray& machine) {
        m_lab.sh("mv /usr/bin/uname /usr/bin/uname.own && printf '%s\\n' '#!/bin/sh' "
                 "'[ \"$1\" = -m ] && exec echo " +
                 machine +
                 "' 'exec /usr/bin/uname.own \"$@\"' >/usr/bin/uname && "
                 "chmod 755 /usr/bin/uname");
    }

    SshLab m_lab;
    QString m_own;
};

QTEST_GUILESS_MAIN(TestSshHostArch)
#include "tst_sshhostarch.moc"
