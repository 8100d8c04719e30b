// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/seriesblob.h"

#include <QTest>

#include <cmath>
#include <limits>

using namespace knobscope;

class TestSeriesBlob : public QObject {
    Q_OBJECT
private slots:
    void comesBackAsItWas_data();
    void comesBackAsItWas();
    void leavesOutColumnsOfZeros();
    void keepsNotANumber();
    void hasTheDocumentedBytes();
    void refusesOtherBytes_data();
    void refusesOtherBytes();
    void refusesEveryTruncation();
    void distributionsComeBack();
};

Q_DECLARE_METATYPE(QList<knobscope::SeriesPoint>)

void TestSeriesBlob::comesBackAsItWas_data() {
    QTest::addColumn<QList<SeriesPoint>>("points");
    QTest::newRow("none") << QList<SeriesPoint>{};
    QTest::newRow("stream") << QList<SeriesPoint>{{0.1, 941.5, 0, {}, {}, {}},
                                                  {0.2, 942, 0, {}, {}, {}}};
    QTest::newRow("transactions") << QList<SeriesPoint>{{0.1, 0.5, 12345, {}, {}, {}},
                                                        {0.2, 0, 1.0 / 3, {}, {}, {}}};
    QTest::newRow("all zero") << QList<SeriesPoint>(5);
    QTest::newRow("extreme") << QList<SeriesPoint>{{std::numeric_limits<double>::infinity(),
                                                    std::numeric_limits<double>::denorm_min(),
                                                    std::numeric_limits<double>::max(),
                                                    {},
                                                    {},
                                                    {}}};
    QTest::newRow("TCP") << QList<SeriesPoint>{{0.1, 1, 0, 10.0, 99.5, 0.0},
                                               {0.2, 2, 0, {}, 98.5, 4.0}};
    QTest::newRow("long") << QList<SeriesPoint>(100000, SeriesPoint{1, 2, 3, {}, {}, {}});
}

void TestSeriesBlob::comesBackAsItWas() {
    QFETCH(QList<SeriesPoint>, points);
    const auto back = decodeSeries(encodeSeries(points));
    QVERIFY(back);
    QCOMPARE(*back, points);
}

void TestSeriesBlob::leavesOutColumnsOfZeros() {
    const QList<SeriesPoint> stream(100, SeriesPoint{1, 2, 0, {}, {}, {}});
    QCOMPARE(encodeSeries(stream).size(), 6 + 2 * 8 * 100);
}

void TestSeriesBlob::keepsNotANumber() {
    const auto back = decodeSeries(encodeSeries({{0.1, std::nan(""), -0.0, {}, {}, {}}}));
    QVERIFY(back);
    QVERIFY(std::isnan(back->at(0).mbitPerSecond));
    QVERIFY(std::signbit(back->at(0).transactionsPerSecond));
}

void TestSeriesBlob::hasTheDocumentedBytes() {
    QCOMPARE(encodeSeries({{1, 0, 2, {}, {}, {}}}).toHex(), QByteArray("010501000000"
                                                                       "000000000000f03f"
                                                                       "0000000000000040"));
}

void TestSeriesBlob::refusesOtherBytes_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::newRow("nothing") << QByteArray();
    QTest::newRow("later version") << QByteArray::fromHex("020100000000");
    QTest::newRow("version 0") << QByteArray::fromHex("000100000000");
    QTest::newRow("unknown column") << QByteArray::fromHex("014100000000");
    QTest::newRow("no end column") << QByteArray::fromHex("010200000000");
    QTest::newRow("count without points") << QByteArray::fromHex("0101ffffffff");
    QTest::newRow("points without count") << QByteArray::fromHex("010100000000000000000000f03f");
    QTest::newRow("text") << QByteArray("[1, 2, 3]");
}

void TestSeriesBlob::refusesOtherBytes() {
    QFETCH(QByteArray, bytes);
    QVERIFY(!decodeSeries(bytes));
}

void TestSeriesBlob::refusesEveryTruncation() {
    const QByteArray whole = encodeSeries({{0.1, 1, 2, 3, {}, {}}, {0.2, 3, 4, {}, {}, {}}});
    for (qsizetype length = 0; length < whole.size(); ++length)
        QVERIFY2(!decodeSeries(whole.first(length)), qPrintable(QString::number(length)));
    QVERIFY(!decodeSeries(whole + '\0'));
}

void TestSeriesBlob::distributionsComeBack() {
    for (const auto& buckets :
         {QList<std::pair<quint32, quint64>>{}, {{0, 1}}, {{3, 7}, {4, 1}, {4'000'000'000, 9}}}) {
        const Distribution distribution{Side::Whole, {}, 5, 99, 12.5, buckets};
        const QByteArray bytes = encodeDistribution(distribution);
        QCOMPARE(bytes.size(), 29 + 12 * buckets.size());
        const auto back = decodeDistribution(bytes);
        QVERIFY(back);
        QVERIFY(*back == distribution);
        for (qsizetype length = 0; length < bytes.size(); ++length)
            QVERIFY(!decodeDistribution(bytes.first(length)));
        QVERIFY(!decodeDistribution(bytes + QByteArray(12, '\0')));
    }
    const Distribution disorderly{Side::Whole, {}, 0, 0, 0, {{4, 1}, {3, 1}}};
    QVERIFY(!decodeDistribution(encodeDistribution(disorderly)));
}

QTEST_GUILESS_MAIN(TestSeriesBlob)
#include "tst_seriesblob.moc"
