// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/jsondocuments.h"
#include "app/cli/texttable.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <QTest>

using namespace knobscope;
using namespace knobscope::cli;

/// Text for terminals: what is shortened, what is broken, what never is. JSON of what no test can
/// bring about.
class TestCliText : public QObject {
    Q_OBJECT
private slots:
    void measuresWhatTerminalsDraw_data();
    void measuresWhatTerminalsDraw();
    void shortensInTheMiddle_data();
    void shortensInTheMiddle();
    void tablesFit_data();
    void tablesFit();
    void tablesAreWholeWithoutATerminal();
    void tablesKeepPairsTogether();
    void breaksAtBlanks_data();
    void breaksAtBlanks();
    void settingsKeepTheirValues_data();
    void settingsKeepTheirValues();
    void jsonTellsWhatWasUndone();
    void jsonTakesAnyBytes();
};

void TestCliText::measuresWhatTerminalsDraw_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<int>("width");
    QTest::newRow("empty") << "" << 0;
    QTest::newRow("letters") << "Größe" << 5;
    QTest::newRow("wide") << "窗口" << 4;
    QTest::newRow("picture") << "🙂" << 2;
    QTest::newRow("combining") << QStringLiteral("a\u0301") << 1;
}

void TestCliText::measuresWhatTerminalsDraw() {
    QFETCH(QString, text);
    QTEST(displayWidth(text), "width");
}

void TestCliText::shortensInTheMiddle_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<int>("width");
    QTest::addColumn<QString>("shown");
    QTest::newRow("fits") << "window" << 6 << "window";
    QTest::newRow("long") << "tcp_limit_output_bytes" << 13 << "tcp_li…_bytes";
    QTest::newRow("one column") << "window" << 1 << "…";
    QTest::newRow("none") << "window" << 0 << "";
    QTest::newRow("wide") << "窗口窗口" << 5 << "窗…口";
    QTest::newRow("pictures stay whole") << "🙂🙂🙂🙂" << 4 << "🙂…";
}

void TestCliText::shortensInTheMiddle() {
    QFETCH(QString, text);
    QFETCH(int, width);
    QTEST(elidedMiddle(text, width), "shown");
    QVERIFY(displayWidth(elidedMiddle(text, width)) <= width);
}

void TestCliText::tablesFit_data() {
    QTest::addColumn<int>("width");
    QTest::newRow("enough") << 40;
    QTest::newRow("shorter names") << 30;
    QTest::newRow("two lines") << 18;
    QTest::newRow("three lines") << 14;
}

void TestCliText::tablesFit() {
    QFETCH(int, width);
    const QList<Column> columns{{"Name", 8}, {"Value"}, {"State"}};
    const QList<QStringList> rows{{"a_name_that_is_long", "65536", "done"}, {"窗口", "7", "done"}};
    const QString text = table(columns, rows, width);
    for (const QString& line : text.split(QLatin1Char('\n')))
        QVERIFY2(displayWidth(line) <= width, qPrintable(text));
    for (const char* whole : {"65536", "7", "done", "窗口", "State"})
        QVERIFY2(text.contains(QString::fromUtf8(whole)), qPrintable(text));
    QCOMPARE(text.contains(QStringLiteral("a_name_that_is_long")), width >= 40);
}

void TestCliText::tablesAreWholeWithoutATerminal() {
    const QString name(300, QLatin1Char('n'));
    const QString text = table({{"Name", 8}, {"n"}}, {{name, "1"}}, 0);
    QVERIFY(text.contains(name + "  1\n"));
    QCOMPARE(table({{"Run"}, {"Name"}}, {{"10", "a"}, {"9", ""}}, 0),
             QStringLiteral("Run  Name\n10   a\n9\n"));
}

void TestCliText::tablesKeepPairsTogether() {
    const QString text = table({{"Counter"}, {"least", 0, true}, {"in"}, {"most", 0, true}, {"in"}},
                               {{"TcpOutSegs", "10", "64K/on", "20", "128K/off"}}, 34);
    QCOMPARE(text, QStringLiteral("Counter     least  in\n"
                                  "        most  in\n"
                                  "TcpOutSegs  10     64K/on\n"
                                  "        20    128K/off\n"));
}

void TestCliText::breaksAtBlanks_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("shown");
    QTest::newRow("short") << "one two"
                           << "one two\n";
    QTest::newRow("long") << "one two three four"
                          << "one two\n  three\n  four\n";
    QTest::newRow("indented") << "  one two three"
                              << "  one two\n    three\n";
    QTest::newRow("no blank") << "abcdefghijklmnop"
                              << "abcdefghijklmnop\n";
    QTest::newRow("no blank at first") << "abcdefghijklm op"
                                       << "abcdefghijklm\n  op\n";
    QTest::newRow("lines stay") << "one\n\ntwo\n"
                                << "one\n\ntwo\n";
    QTest::newRow("wide") << "窗口 窗口 窗口"
                          << "窗口 窗口\n  窗口\n";
}

void TestCliText::breaksAtBlanks() {
    QFETCH(QString, text);
    QTEST(wrapped(text, 10), "shown");
    QCOMPARE(wrapped(text, 0).trimmed(), text.trimmed());
}

void TestCliText::settingsKeepTheirValues_data() {
    QTest::addColumn<int>("width");
    QTest::addColumn<QString>("text");
    QTest::newRow("no limit") << 0 << "window 65536, tcp_limit_output_bytes 1048576";
    QTest::newRow("fits") << 44 << "window 65536, tcp_limit_output_bytes 1048576";
    QTest::newRow("names shorter") << 36 << "window 65536, tcp_lim…_bytes 1048576";
    QTest::newRow("shortest") << 28 << "window 65536, tcp…es 1048576";
    QTest::newRow("values only") << 18 << "65536, 1048576";
    QTest::newRow("too narrow") << 5 << "65536, 1048576";
}

void TestCliText::settingsKeepTheirValues() {
    QFETCH(int, width);
    QTEST(settingsText({{"window", "65536"}, {"tcp_limit_output_bytes", "1048576"}}, width),
          "text");
}

void TestCliText::jsonTellsWhatWasUndone() {
    protocol::UndoReport back;
    back.name = "sysctl:net.ipv4.tcp_rmem";
    back.original = "4096 131072 6291456";
    back.now = back.original;
    back.restored = true;
    protocol::UndoReport lost;
    lost.name = "link:mtu";
    lost.interface = "eth1";
    lost.original = "1500";
    lost.error = "No such device";
    lost.interface_gone = true;
    const QString text = recoveredJson(QStringLiteral("host1"), 4, {}, {back, lost});
    QVERIFY(!text.contains(QLatin1Char('\n')));
    const QJsonObject report = QJsonDocument::fromJson(text.toUtf8()).object();
    QCOMPARE(report["host"].toString(), QStringLiteral("host1"));
    QCOMPARE(report["status"].toInt(), 4);
    const QJsonArray knobs = report["knobs"].toArray();
    QCOMPARE(knobs.size(), 2);
    QVERIFY(knobs[0]["restored"].toBool());
    QCOMPARE(knobs[0]["now"].toString(), QStringLiteral("4096 131072 6291456"));
    QVERIFY(knobs[0]["found"].isNull()); // unknown
    QVERIFY(!knobs[1]["restored"].toBool());
    QVERIFY(knobs[1]["interface_gone"].toBool());
    QCOMPARE(knobs[1]["interface"].toString(), QStringLiteral("eth1"));
    QCOMPARE(knobs[1]["error"].toString(), QStringLiteral("No such device"));
}

void TestCliText::jsonTakesAnyBytes() {
    protocol::UndoReport undo;
    undo.original = "\xff\xfe";
    const QString text = recoveredJson(QStringLiteral("host1"), 0, {}, {undo});
    QVERIFY(QJsonDocument::fromJson(text.toUtf8()).isObject());
}

QTEST_APPLESS_MAIN(TestCliText)
#include "tst_clitext.moc"
