// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/host/savedhosts.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

using namespace knobscope;

namespace {

SavedHost full() {
    SavedHost host;
    host.name = QStringLiteral("dut");
    host.ssh = QStringLiteral("fe80::1%eth0");
    host.user = QStringLiteral("root");
    host.port = 2222;
    host.key = QStringLiteral("~/.ssh/lab key");
    host.jump = QStringLiteral("op@gate:22,inner");
    host.sudo = SudoMode::Password;
    host.address = QStringLiteral("10.77.0.1");
    host.interface = QStringLiteral("test0");
    return host;
}

SavedHost named(const char* name) {
    SavedHost host;
    host.name = QLatin1String(name);
    host.ssh = host.name;
    return host;
}

} // namespace

class TestSavedHosts : public QObject {
    Q_OBJECT
private slots:
    void init() {
        m_dir = std::make_unique<QTemporaryDir>();
        m_path = m_dir->filePath(QStringLiteral("new folder/hosts.json"));
    }
    void keepsAll();
    void noFileIsNoHost();
    void damageIsToldAndNothingLost_data();
    void damageIsToldAndNothingLost();
    void fields_data();
    void fields();
    void cannotBeWritten();
    void findsByName();
    void saysTheLogin();

private:
    std::unique_ptr<QTemporaryDir> m_dir;
    QString m_path;
};

void TestSavedHosts::keepsAll() {
    QList<SavedHost> hosts{full(), named("b")};
    for (const SudoMode mode : {SudoMode::None, SudoMode::Auto}) {
        hosts << named(mode == SudoMode::None ? "c" : "d");
        hosts.last().sudo = mode;
    }
    QVERIFY(writeSavedHosts(m_path, hosts));
    const auto read = readSavedHosts(m_path);
    QVERIFY2(read, read ? "" : qPrintable(read.error().text()));
    QCOMPARE(*read, hosts);
    QVERIFY(writeSavedHosts(m_path, {}));
    QCOMPARE(readSavedHosts(m_path).value(), QList<SavedHost>());
}

void TestSavedHosts::noFileIsNoHost() {
    QCOMPARE(readSavedHosts(m_path).value(), QList<SavedHost>());
    QVERIFY(!findSavedHost(m_path, QStringLiteral("dut")).value());
    QVERIFY(!findSavedHost({}, QStringLiteral("dut")).value());
}

void TestSavedHosts::damageIsToldAndNothingLost_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("why");
    const auto row = [](const char* name, const QByteArray& text, const char* why) {
        QTest::newRow(name) << text << QString::fromLatin1(why);
    };
    const auto hosts = [](const QByteArray& list) {
        return "{\"knobscope_hosts\": 1, \"hosts\": [" + list + "]}";
    };
    row("empty", "", "is empty");
    row("cut", hosts("{\"name\": \"a\"").chopped(2), "line 1");
    row("no object", "[]", "object");
    row("later version", "{\"knobscope_hosts\": 2, \"hosts\": []}", "must be 1");
    row("no version", "{\"hosts\": []}", "must be 1");
    row("no list", "{\"knobscope_hosts\": 1}", "hosts");
    row("unknown key", hosts("{\"name\": \"a\", \"ssh\": \"a\", \"prot\": 22}"), "prot");
    row("no name", hosts("{\"ssh\": \"a\"}"), "name");
    row("port as text", hosts("{\"name\": \"a\", \"ssh\": \"a\", \"port\": \"22\"}"), "port");
    row("port too large", hosts("{\"name\": \"a\", \"ssh\": \"a\", \"port\": 65536}"), "65535");
    row("sudo", hosts("{\"name\": \"a\", \"ssh\": \"a\", \"sudo\": \"yes\"}"), "none, auto");
    row("twice", hosts("{\"name\": \"a\", \"ssh\": \"a\"}, {\"name\": \"a\", \"ssh\": \"b\"}"),
        "\"a\" is there twice");
    row("option", hosts("{\"name\": \"a\", \"ssh\": \"-oProxyCommand=x\"}"), "dash");
}
void TestSavedHosts::damageIsToldAndNothingLost() {
    QFETCH(QByteArray, text);
    QFETCH(QString, why);
    QDir().mkpath(QFileInfo(m_path).path());
    QFile file(m_path);
    QVERIFY(file.open(QIODevice::WriteOnly) && file.write(text) == text.size());
    file.close();
    const auto read = readSavedHosts(m_path);
    QVERIFY(!read);
    QCOMPARE(int(read.error().code), int(Error::Code::BadInput));
    QVERIFY2(read.error().text().contains(m_path), qPrintable(read.error().text()));
    QVERIFY2(read.error().text().contains(why), qPrintable(read.error().text()));
    QVERIFY(!findSavedHost(m_path, QStringLiteral("a")));
    QVERIFY(file.open(QIODevice::ReadOnly));
    QCOMPARE(file.readAll(), text);
}

void TestSavedHosts::fields_data() {
    QTest::addColumn<QString>("field");
    QTest::addColumn<QString>("value");
    QTest::addColumn<bool>("good");
    const auto row = [](const char* field, const char* value, bool good) {
        QTest::addRow("%s %s", field, value)
            << QString::fromLatin1(field) << QString::fromUtf8(value) << good;
    };
    for (const char* name : {"dut", "dut.lab", "dut-1", "10.0.0.1", "Rechner-ü"})
        row("name", name, true);
    for (const char* name : {"", "local", "-dut", "root@dut", "ssh://dut", "a b", "a;b", "$(x)"})
        row("name", name, false);
    for (const char* ssh : {"dut", "10.0.0.1", "fe80::1%eth0"})
        row("ssh", ssh, true);
    for (const char* ssh : {"", "-x", "root@dut", "ssh://dut:22", "a b", "`x`"})
        row("ssh", ssh, false);
    for (const char* user : {"", "root", "user@domain", "o.p"})
        row("user", user, true);
    for (const char* user : {"-l", "a b", "a\nb"})
        row("user", user, false);
    for (const char* jump : {"", "gate", "op@gate:22,inner", "[fe80::1]:22", "ssh://gate:22"})
        row("jump", jump, true);
    for (const char* jump : {",", "gate,", "gate:x", "gate:99999", "-gate", "a b"})
        row("jump", jump, false);
    for (const char* address : {"", "10.0.0.1", "fe80::1%eth0", "2001:db8::1"})
        row("address", address, true);
    for (const char* address : {"dut", "10.0.0", "10.0.0.1/24", "1::2::3"})
        row("address", address, false);
    for (const char* interface : {"", "eth0", "enp129s0f1np1", "eth0.100"})
        row("interface", interface, true);
    for (const char* interface : {"sixteen-letters-x", "a/b", "a b", ".."})
        row("interface", interface, false);
    row("key", "a\nb", false);
    row("key", "~/.ssh/my key", true);
}
void TestSavedHosts::fields() {
    QFETCH(QString, field);
    QFETCH(QString, value);
    QFETCH(bool, good);
    SavedHost host = named("dut");
    const QMap<QString, QString SavedHost::*> fields{
        {QStringLiteral("name"), &SavedHost::name},
        {QStringLiteral("ssh"), &SavedHost::ssh},
        {QStringLiteral("user"), &SavedHost::user},
        {QStringLiteral("jump"), &SavedHost::jump},
        {QStringLiteral("key"), &SavedHost::key},
        {QStringLiteral("address"), &SavedHost::address},
        {QStringLiteral("interface"), &SavedHost::interface}};
    host.*fields[field] = value;
    const auto checked = checkSavedHost(host);
    QCOMPARE(checked.has_value(), good);
    if (!good)
        QVERIFY2(checked.error().message.startsWith(field + QStringLiteral(": ")),
                 qPrintable(checked.error().text()));
}

void TestSavedHosts::cannotBeWritten() {
    QVERIFY(writeSavedHosts(m_path, {full()}));
    const QString inside = m_path + QStringLiteral("/hosts.json"); // a file is no folder
    const auto written = writeSavedHosts(inside, {full()});
    QVERIFY(!written);
    QCOMPARE(int(written.error().code), int(Error::Code::Storage));
    QVERIFY(written.error().text().contains(inside));
    QCOMPARE(readSavedHosts(m_path).value(), QList<SavedHost>{full()});
}

void TestSavedHosts::findsByName() {
    QVERIFY(writeSavedHosts(m_path, {named("other"), full()}));
    const auto found = findSavedHost(m_path, QStringLiteral("dut"));
    QVERIFY(found && *found);
    QCOMPARE(**found, full());
    QVERIFY(!findSavedHost(m_path, QStringLiteral("DUT")).value());
    const HostSpec spec = full().spec();
    QCOMPARE(spec.ssh, QStringLiteral("dut"));
    QCOMPARE(spec.address, QStringLiteral("10.77.0.1"));
    QCOMPARE(spec.interface, QStringLiteral("test0"));
    QVERIFY(!spec.local);
}

void TestSavedHosts::saysTheLogin() {
    SavedHost host = named("gate");
    QCOMPARE(host.login(), QStringLiteral("gate"));
    host.user = QStringLiteral("op");
    host.port = 2222;
    QCOMPARE(host.login(), QStringLiteral("op@gate:2222"));
    QCOMPARE(full().login(),
             QStringLiteral("root@fe80::1%eth0, port 2222, through op@gate:22,inner"));
}

QTEST_GUILESS_MAIN(TestSavedHosts)
#include "tst_savedhosts.moc"
