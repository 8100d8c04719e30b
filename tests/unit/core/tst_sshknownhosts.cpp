// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/host/knownhosts.h"

#include <QCryptographicHash>
#include <QFile>
#include <QMessageAuthenticationCode>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>
#include <QtEndian>

using namespace knobscope;
using State = HostKeyVerdict::State;

namespace {

/// A public key with a real frame: the type, then some bytes.
QByteArray key(const QByteArray& type, char fill) {
    const auto framed = [](const QByteArray& bytes) {
        QByteArray size(4, '\0');
        qToBigEndian(quint32(bytes.size()), size.data());
        return size + bytes;
    };
    return framed(type) + framed(QByteArray(32, fill));
}

const QByteArray kEd = "ssh-ed25519";
const QByteArray kOurs = key(kEd, 'a');
const QByteArray kOther = key(kEd, 'b');
const QByteArray kRsa = key("ssh-rsa", 'r');

QByteArray line(const QByteArray& field, const QByteArray& blob) {
    return field + ' ' + KnownHosts::typeOf(blob) + ' ' + blob.toBase64();
}

QByteArray hashed(const QByteArray& name) {
    const QByteArray salt(20, 's');
    return "|1|" + salt.toBase64() + '|' +
           QMessageAuthenticationCode::hash(name, salt, QCryptographicHash::Sha1).toBase64();
}

} // namespace

class TestSshKnownHosts : public QObject {
    Q_OBJECT
private slots:
    void judges_data() {
        QTest::addColumn<QByteArray>("content");
        QTest::addColumn<QString>("host");
        QTest::addColumn<int>("port");
        QTest::addColumn<QString>("alias");
        QTest::addColumn<int>("state");
        QTest::addColumn<int>("at"); // line, 0: none
        const auto row = [](const char* name, const QByteArray& content, State state, int at,
                            const char* host = "host1", int port = 22, const char* alias = "") {
            QTest::newRow(name) << content << QString::fromLatin1(host) << port
                                << QString::fromLatin1(alias) << int(state) << at;
        };
        row("empty", "", State::Unknown, 0);
        row("plain", line("host1", kOurs), State::Known, 1);
        row("with a comment", line("host1", kOurs) + " root@host1", State::Known, 1);
        row("tabs and CR", "  host1\t" + kEd + "\t" + kOurs.toBase64() + "\r", State::Known, 1);
        row("list", line("host0,10.0.0.1,host1", kOurs), State::Known, 1);
        row("upper case", line("HOST1", kOurs), State::Known, 1, "Host1");
        row("another host", line("host11", kOurs), State::Unknown, 0);
        row("part of a name", line("host", kOurs), State::Unknown, 0);
        row("star", line("*.lab", kOurs), State::Known, 1, "a.lab");
        row("star misses", line("*.lab", kOurs), State::Unknown, 0, "lab");
        row("question mark", line("host?", kOurs), State::Known, 1);
        row("stars", line("*h*s*1*", kOurs), State::Known, 1);
        row("negated", line("host*,!host1", kOurs), State::Unknown, 0);
        row("negated first", line("!host1,host*", kOurs), State::Unknown, 0);
        row("negated other", line("!host2,host*", kOurs), State::Known, 1);
        row("only negated", line("!host2", kOurs), State::Unknown, 0);
        row("hashed", line(hashed("host1"), kOurs), State::Known, 1);
        row("hashed, other host", line(hashed("host2"), kOurs), State::Unknown, 0);
        row("hashed, changed", line(hashed("host1"), kOther), State::Changed, 1);
        row("hash of another kind", line("|2|c3Nzc3M=|c3Nzc3M=", kOurs), State::Unknown, 0);
        row("hash cut short", line("|1|c3Nzc3M=", kOurs), State::Unknown, 0);
        row("hash not base64", line("|1|!!!|???", kOurs), State::Unknown, 0);
        row("port", line("[host1]:2222", kOurs), State::Known, 1, "host1", 2222);
        row("hashed with port", line(hashed("[host1]:2222"), kOurs), State::Known, 1, "host1",
            2222);
        row("port, known without it", line("host1", kOurs), State::Known, 1, "host1", 2222);
        row("port, another key without it", line("host1", kOther), State::Unknown, 0, "host1",
            2222);
        row("port, changed there", line("[host1]:2222", kOther) + '\n' + line("host1", kOurs),
            State::Changed, 1, "host1", 2222);
        row("port, revoked without it",
            line("[host1]:2222", kOurs) + "\n@revoked " + line("host1", kOurs), State::Revoked, 2,
            "host1", 2222);
        row("other port", line("[host1]:2222", kOurs), State::Unknown, 0);
        row("alias", line("pool", kOurs), State::Known, 1, "host1", 2222, "pool");
        row("alias, not the name", line("host1", kOurs), State::Unknown, 0, "host1", 22, "pool");
        row("changed", line("host1", kOther), State::Changed, 1);
        row("changed, then right", line("host1", kOther) + '\n' + line("host1", kOurs),
            State::Known, 2);
        row("other type", line("host1", kRsa), State::OtherType, 1);
        row("other type, then changed", line("host1", kRsa) + '\n' + line("host1", kOther),
            State::Changed, 2);
        row("revoked", "@revoked " + line("host1", kOurs), State::Revoked, 1);
        row("revoked by pattern", "@revoked " + line("*", kOurs), State::Revoked, 1);
        row("known, then revoked", line("host1", kOurs) + "\n@revoked " + line("*", kOurs),
            State::Revoked, 2);
        row("revoked, then known", "@revoked " + line("*", kOurs) + '\n' + line("host1", kOurs),
            State::Revoked, 1);
        row("another key revoked", "@revoked " + line("*", kOther) + '\n' + line("host1", kOurs),
            State::Known, 2);
        row("authority does not count", "@cert-authority " + line("*", kOurs), State::Unknown, 0);
        row("unknown marker", "@trusted " + line("host1", kOurs), State::Unknown, 0);
        row("comment", "# " + line("host1", kOurs), State::Unknown, 0);

        // Lines that are not understood hide nothing that comes after them.
        const QByteArray changed = '\n' + line("host1", kOther);
        row("malformed before changed", "host1 ssh-ed25519 %%%" + changed, State::Changed, 2);
        row("unknown type before changed", line("host1", key("ssh-future", 'f')) + changed,
            State::Changed, 2);
        row("short line before changed", "host1 ssh-ed25519" + changed, State::Changed, 2);
        row("one word before changed", "host1" + changed, State::Changed, 2);
        row("type that lies before changed", "host1 ssh-rsa " + kOurs.toBase64() + changed,
            State::Changed, 2);
        row("marker alone before changed", "@revoked" + changed, State::Changed, 2);
        row("NUL before changed", QByteArray("\0\0host1", 7) + changed, State::Changed, 2);
        row("old format before changed", "host1 1024 35 123456789" + changed, State::Changed, 2);
        row("key without data",
            "host1 ssh-ed25519 " + QByteArray("\0\0\0\x0bssh-ed25519", 15).toBase64(),
            State::Unknown, 0);
        row("length that lies",
            "host1 ssh-ed25519 " + QByteArray("\x7f\xff\xff\xffssh-ed25519", 15).toBase64(),
            State::Unknown, 0);
        row("many stars", line(QByteArray(2000, '*') + "x", kOurs), State::Unknown, 0);
        row("long line", QByteArray(1 << 20, 'x') + changed, State::Changed, 2);
    }
    void judges() {
        QFETCH(QByteArray, content);
        QFETCH(QString, host);
        QFETCH(int, port);
        QFETCH(QString, alias);
        QFETCH(int, state);
        QFETCH(int, at);
        KnownHosts known;
        known.addContent(content, QStringLiteral("file"));
        const HostKeyVerdict verdict = known.check(host, port, alias, kOurs);
        QCOMPARE(int(verdict.state), state);
        QCOMPARE(verdict.place, at ? QStringLiteral("file:%1").arg(at) : QString());
    }

    void filesAddUp() {
        KnownHosts known;
        known.addContent(line("host1", kOurs), QStringLiteral("user"));
        known.addContent("\n@revoked " + line("host1", kOurs), QStringLiteral("global"));
        const auto verdict = known.check(QStringLiteral("host1"), 22, {}, kOurs);
        QCOMPARE(int(verdict.state), int(State::Revoked));
        QCOMPARE(verdict.place, QStringLiteral("global:2"));
    }

    void missingFileIsEmptyUnreadableIsAnError() {
        QTemporaryDir dir;
        KnownHosts known;
        QVERIFY(known.addFile(dir.filePath(QStringLiteral("none"))));
        const auto folder = known.addFile(dir.path());
        QVERIFY(!folder);
        QVERIFY(folder.error().text().contains(dir.path()));
    }

    void appendsWhatItThenKnows_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<bool>("hashed");
        QTest::newRow("plain") << QStringLiteral("host1") << false;
        QTest::newRow("hashed") << QStringLiteral("host1") << true;
    }
    void appendsWhatItThenKnows() {
        QFETCH(QString, name);
        QFETCH(bool, hashed);
        QTemporaryDir dir;
        const QString path = dir.filePath(QStringLiteral("new/known_hosts"));
        QVERIFY(KnownHosts::append(path, name, kOurs, hashed));
        QCOMPARE(QFile::permissions(path) & (QFile::ReadGroup | QFile::ReadOther), 0);
        // A last line without its end stays a line of its own.
        QFile file(path);
        QVERIFY(file.open(QIODevice::ReadWrite));
        QCOMPARE(file.readAll().contains("host1"), !hashed);
        file.resize(file.size() - 1);
        file.close();
        QVERIFY(KnownHosts::append(path, QStringLiteral("host2"), kRsa, hashed));
        KnownHosts known;
        QVERIFY(known.addFile(path));
        QCOMPARE(int(known.check(QStringLiteral("host1"), 22, {}, kOurs).state), int(State::Known));
        QCOMPARE(int(known.check(QStringLiteral("host2"), 22, {}, kRsa).state), int(State::Known));
    }

    void fingerprintIsAsSshPrintsIt() {
        QTemporaryDir dir;
        const QString path = dir.filePath(QStringLiteral("key"));
        run({QStringLiteral("-q"),
             QStringLiteral("-N"),
             {},
             QStringLiteral("-t"),
             QStringLiteral("ed25519"),
             QStringLiteral("-f"),
             path});
        const QByteArray said = run({QStringLiteral("-lf"), path});
        QFile file(path + QStringLiteral(".pub"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QByteArray blob = QByteArray::fromBase64(file.readAll().split(' ').value(1));
        QCOMPARE(KnownHosts::fingerprint(blob), QString::fromUtf8(said.split(' ').value(1)));
    }

private:
    static QByteArray run(const QStringList& arguments) {
        QProcess keygen;
        keygen.start(QStringLiteral("ssh-keygen"), arguments);
        return keygen.waitForFinished(10000) ? keygen.readAllStandardOutput() : QByteArray();
    }
};

QTEST_GUILESS_MAIN(TestSshKnownHosts)
#include "tst_sshknownhosts.moc"
