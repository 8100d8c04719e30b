// SPDX-License-Identifier: GPL-3.0-or-later
// The campaign proves that its checks can fail: they must notice what is done here on purpose.
#include "tests/fault/campaign.h"

#include <QSqlDatabase>
#include <QSqlQuery>

namespace knobscope::test {

namespace {

struct Change {
    const char* make;
    const char* undo;
};

constexpr Change kChanges[] = {
    {"f=/proc/sys/net/ipv4/tcp_limit_output_bytes; cat $f >/tmp/was; echo 4711 >$f",
     "cat /tmp/was >/proc/sys/net/ipv4/tcp_limit_output_bytes"},
    {"f=/proc/sys/net/ipv4/tcp_autocorking; cat $f >/tmp/was; echo 0 >$f",
     "cat /tmp/was >/proc/sys/net/ipv4/tcp_autocorking"},
    {"f=/proc/sys/net/ipv4/tcp_rmem; cat $f >/tmp/was; echo 4096 47110 471100 >$f",
     "cat /tmp/was >/proc/sys/net/ipv4/tcp_rmem"},
    {"ip link set test0 mtu 1471", "ip link set test0 mtu 1500"},
    {"ip link set test0 txqueuelen 471", "ip link set test0 txqueuelen 1000"},
    {"ethtool -K test0 tso off", "ethtool -K test0 tso on"},
    {"ethtool -K test0 gso off", "ethtool -K test0 gso on"},
    {"tc qdisc replace dev test0 root pfifo limit 471", "tc qdisc del dev test0 root"},
};

/// Does something to a copy of a database; empty when it could not.
QString spoiledCopy(const QString& file, const QString& copy, const QString& statement) {
    const QString name = QStringLiteral("spoil");
    bool done = false;
    {
        QSqlDatabase database = QSqlDatabase::addDatabase(QStringLiteral("QSQLITE"), name);
        database.setDatabaseName(file);
        done = database.open() &&
               QSqlQuery(database).exec(QStringLiteral("VACUUM INTO '%1'").arg(copy));
        database.close();
        database.setDatabaseName(copy);
        done = done && database.open() && QSqlQuery(database).exec(statement);
    }
    QSqlDatabase::removeDatabase(name);
    return done ? copy : QString();
}

} // namespace

void Campaign::proveReading() {
    for (const Lab::Host& host : m_lab.hosts()) {
        for (const Change& change : kChanges) {
            const auto sh = [&](const char* command) {
                (void)m_lab.exec(host.name, {QStringLiteral("sh"), QStringLiteral("-c"),
                                             QString::fromUtf8(command)});
            };
            sh(change.make);
            if (notBack(host.name).isEmpty())
                violated(QStringLiteral("the campaign is blind to: ") +
                         QString::fromUtf8(change.make));
            sh(change.undo);
            const QStringList left = notBack(host.name);
            if (!left.isEmpty())
                violated(QStringLiteral("the campaign has left: ") +
                         left.join(QStringLiteral("; ")));
        }
    }
}

void Campaign::proveLedger() {
    const QStringList statements{
        QStringLiteral("DELETE FROM sample WHERE id = (SELECT MIN(id) FROM sample WHERE state <> "
                       "'failed')"),
        QStringLiteral("UPDATE metric SET value = value * 1.000001 WHERE sample = (SELECT MIN(id) "
                       "FROM sample WHERE state <> 'failed')"),
        QStringLiteral("UPDATE sample SET block = block + 1 WHERE id = (SELECT MAX(id) FROM sample "
                       "WHERE state <> 'failed')"),
        QStringLiteral("UPDATE sample SET reason = '' WHERE state = 'failed'")};
    int number = 0;
    for (const QString& statement : statements) {
        const QString copy =
            spoiledCopy(m_files->database(),
                        m_files->path(QStringLiteral("spoiled%1.db").arg(++number)), statement);
        if (copy.isEmpty() || m_ledger->in(copy).check(0).isEmpty())
            violated(QStringLiteral("the campaign is blind to: ") + statement);
    }
    if (const QString copy =
            spoiledCopy(m_files->database(), m_files->path(QStringLiteral("copy.db")),
                        QStringLiteral("SELECT 1"));
        copy.isEmpty() || !m_ledger->in(copy).check(0).isEmpty())
        violated(QStringLiteral("a sound copy of the database does not pass"));
}

} // namespace knobscope::test
