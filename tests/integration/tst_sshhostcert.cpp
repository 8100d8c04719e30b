// SPDX-License-Identifier: GPL-3.0-or-later
// Logging in with certificates: beside the key, named in the configuration, and for keys that only
// the ssh-agent has.
#include "tests/lab/sshlab.h"

#include <QFile>
#include <QTest>

#include <unistd.h>

using namespace knobscope;
using namespace knobscope::test;

class TestSshHostCert : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        if (geteuid() != 0)
            QSKIP("hosts in network namespaces need root");
        QVERIFY2(m_lab.up(), qPrintable(m_lab.error()));
        m_authority = m_lab.path(QStringLiteral("authority"));
        QVERIFY(keygen(m_authority, QStringLiteral("authority")));
        m_lab.sh("echo '" + readFile(m_authority + QStringLiteral(".pub")).trimmed() +
                 "' >/etc/knobscope-lab/authority.pub");
        // This sshd knows the authority and no key.
        m_sshd.emplace(m_lab, 2204,
                       "AuthorizedKeysFile none\nTrustedUserCAKeys "
                       "/etc/knobscope-lab/authority.pub");
    }
    void cleanupTestCase() { m_sshd.reset(); }

    void certificateBesideTheKey_data() {
        QTest::addColumn<QString>("type");
        QTest::addColumn<QString>("passphrase");
        for (const char* type : {"ed25519", "rsa", "ecdsa"})
            QTest::newRow(type) << QString::fromUtf8(type) << QString();
        QTest::newRow("locked key") << QStringLiteral("ed25519") << QStringLiteral("secret");
    }
    void certificateBesideTheKey() {
        QFETCH(QString, type);
        QFETCH(QString, passphrase);
        const QString key = m_lab.path(QStringLiteral("key-%1-%2").arg(type, passphrase));
        QVERIFY(keygen(key, type, passphrase, type));
        QVERIFY(!m_lab.open(QStringLiteral("lab"), with(key, passphrase)));
        QVERIFY(certify(m_authority, key, QStringLiteral("root")));
        const Session session = m_lab.open(QStringLiteral("lab"), with(key, passphrase));
        QVERIFY2(session, SshLab::why(session));
    }

    void certificateThatTheConfigurationNames() {
        const QString key = m_lab.path(QStringLiteral("plain"));
        const QString elsewhere = m_lab.path(QStringLiteral("elsewhere-cert.pub"));
        QVERIFY(keygen(key, QStringLiteral("plain")));
        QVERIFY(certify(m_authority, key, QStringLiteral("root")));
        QVERIFY(QFile::rename(key + QStringLiteral("-cert.pub"), elsewhere));
        QVERIFY(!m_lab.open(QStringLiteral("lab"), with(key)));
        const QByteArray named = " CertificateFile " + elsewhere.toUtf8() + "\n";
        const Session session = m_lab.open(QStringLiteral("lab"), with(key, {}, named));
        QVERIFY2(session, SshLab::why(session));
        // The certificate is for this key only; with another it is not tried.
        const QString other = m_lab.path(QStringLiteral("other"));
        QVERIFY(keygen(other, QStringLiteral("other")));
        const Session refused = m_lab.open(QStringLiteral("lab"), with(other, {}, named));
        QVERIFY(!refused);
        QVERIFY2(!refused.error().text().contains(QStringLiteral("certificate")),
                 SshLab::why(refused));
    }

    void certificateOfAKeyThatTheAgentHas_data() {
        QTest::addColumn<bool>("agentHasTheCertificate");
        QTest::addColumn<bool>("fileNamesTheKey");
        QTest::newRow("all in the agent") << true << false;
        QTest::newRow("certificate in a file") << false << false;
        QTest::newRow("certificate and public key in files") << false << true;
    }
    void certificateOfAKeyThatTheAgentHas() {
        QFETCH(bool, agentHasTheCertificate);
        QFETCH(bool, fileNamesTheKey);
        const QString name =
            QStringLiteral("agent-%1%2").arg(agentHasTheCertificate).arg(fileNamesTheKey);
        const QString key = m_lab.path(name);
        const QString certificate = key + QStringLiteral("-cert.pub");
        QVERIFY(keygen(key, name));
        KeyRing ring(m_lab.path(QStringLiteral("ring")));
        if (!agentHasTheCertificate)
            QVERIFY(ring.add(key));
        QVERIFY(certify(m_authority, key, QStringLiteral("root")));
        if (agentHasTheCertificate)
            QVERIFY(ring.add(key));
        QVERIFY(QFile::remove(key));
        QByteArray named;
        if (!agentHasTheCertificate)
            named += " CertificateFile " + certificate.toUtf8() + "\n IdentitiesOnly yes\n";
        if (fileNamesTheKey)
            named += " IdentityFile " + key.toUtf8() + "\n";
        const Session session = m_lab.open(
            QStringLiteral("lab"), m_lab.options(" Port 2204\n" + named, SshLab::Identity::None));
        QVERIFY2(session, SshLab::why(session));
    }

    void certificateForSomebodyElseIsRefused() {
        const QString key = m_lab.path(QStringLiteral("somebody"));
        QVERIFY(keygen(key, QStringLiteral("somebody")));
        QVERIFY(certify(m_authority, key, QStringLiteral("nobody-here")));
        const Session session = m_lab.open(QStringLiteral("lab"), with(key));
        QVERIFY(!session);
        QVERIFY2(session.error().text().contains(QStringLiteral("with its certificate")),
                 SshLab::why(session));
    }

private:
    HostOptions with(const QString& key, const QString& passphrase = {},
                     const QByteArray& more = {}) {
        HostOptions o = m_lab.options(" Port 2204\n IdentityFile " + key.toUtf8() + "\n" + more,
                                      SshLab::Identity::None);
        if (!passphrase.isEmpty())
            o.secrets = std::make_shared<ScriptedUser>(passphrase.toUtf8());
        return o;
    }

    SshLab m_lab;
    QString m_authority;
    std::optional<LabSshd> m_sshd;
};

QTEST_GUILESS_MAIN(TestSshHostCert)
#include "tst_sshhostcert.moc"
