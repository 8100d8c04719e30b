// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/streamblob.h"
#include "examplerun.h"

#include <QTest>

#include <limits>

using namespace knobscope;

class TestStreamBlob : public QObject {
    Q_OBJECT
private slots:
    void comesBackAsItWas_data();
    void comesBackAsItWas();
    void hasTheDocumentedBytes();
    void isCompact();
    void refusesOtherBytes_data();
    void refusesOtherBytes();
    void refusesEveryTruncation();
    void survivesEveryByte();
};

Q_DECLARE_METATYPE(QList<knobscope::StreamFigures>)

namespace {

StreamFigures bare(int number) {
    StreamFigures stream;
    stream.number = number;
    return stream;
}

} // namespace

void TestStreamBlob::comesBackAsItWas_data() {
    QTest::addColumn<QList<StreamFigures>>("streams");
    QTest::newRow("none") << QList<StreamFigures>{};
    QTest::newRow("nothing known") << QList<StreamFigures>{bare(1)};
    QTest::newRow("all kinds") << example::streams();
    StreamFigures extreme = bare(std::numeric_limits<int>::max());
    extreme.instance = std::numeric_limits<int>::max();
    extreme.bytesSent = extreme.bytesReceived = std::numeric_limits<quint64>::max();
    extreme.elapsedSeconds = std::numeric_limits<double>::denorm_min();
    extreme.retransmits = std::numeric_limits<qint64>::min();
    extreme.transactions = std::numeric_limits<qint64>::max();
    extreme.congestionControl = QString(60, QChar(u'\u7a97'));
    QTest::newRow("extreme") << QList<StreamFigures>{extreme};
    StreamFigures zeros = bare(1);
    zeros.retransmits = zeros.mss = zeros.localPort = zeros.transactions = 0;
    zeros.congestionControl = QStringLiteral("");
    zeros.datagrams = DatagramFigures{};
    zeros.datagrams->jitterUs = 0;
    QTest::newRow("zero is not unknown") << QList<StreamFigures>{zeros, bare(2), zeros};
    QList<StreamFigures> many;
    for (int i = 1; i <= 1000; ++i) {
        many << bare(i);
        many.last().sends = i % 3 == 0;
        if (i % 7 == 0)
            many.last().roundTripUs = i;
    }
    QTest::newRow("many") << many;
}

void TestStreamBlob::comesBackAsItWas() {
    QFETCH(QList<StreamFigures>, streams);
    const auto back = decodeStreams(encodeStreams(streams));
    QVERIFY(back);
    QVERIFY(*back == streams);
}

void TestStreamBlob::hasTheDocumentedBytes() {
    StreamFigures first = bare(1);
    first.sends = true;
    StreamFigures second = bare(2);
    second.elapsedSeconds = 1;
    second.retransmits = 3;
    second.congestionControl = QStringLiteral("bbr");
    QCOMPARE(encodeStreams({first, second}).toHex(), QByteArray("01"       // version
                                                                "02000000" // streams
                                                                "42400010" // columns 1, 6, 14, 28
                                                                "01"       // the first sends
                                                                "03"
                                                                "0100000000000000"
                                                                "0200000000000000"
                                                                "02"
                                                                "000000000000f03f"
                                                                "02"
                                                                "0300000000000000"
                                                                "02"
                                                                "03626272"));
}

void TestStreamBlob::isCompact() {
    QList<StreamFigures> streams;
    for (int i = 1; i <= 64; ++i)
        streams << bare(i);
    QCOMPARE(encodeStreams(streams).size(), 9 + 8 + 8 + 64 * 8);
}

void TestStreamBlob::refusesOtherBytes_data() {
    QTest::addColumn<QByteArray>("bytes");
    const auto hex = [](const char* text) { return QByteArray::fromHex(text); };
    QTest::newRow("nothing") << QByteArray();
    QTest::newRow("later version") << hex("020000000000000000");
    QTest::newRow("version 0") << hex("000000000000000000");
    QTest::newRow("unknown column") << hex("010000000000000020");
    QTest::newRow("more bytes") << hex("01000000000000000000");
    QTest::newRow("streams without numbers") << hex("010100000000000000"
                                                    "00");
    QTest::newRow("number 0") << hex("010100000002000000"
                                     "00"
                                     "01"
                                     "0000000000000000");
    QTest::newRow("number beyond") << hex("010100000002000000"
                                          "00"
                                          "01"
                                          "0000000001000000");
    QTest::newRow("bits of no stream") << hex("010100000002000000"
                                              "02"
                                              "01"
                                              "0100000000000000");
    QTest::newRow("value of no stream") << hex("010100000002000000"
                                               "00"
                                               "03"
                                               "0100000000000000"
                                               "0100000000000000");
    QTest::newRow("a column without values") << hex("010100000006000000"
                                                    "00"
                                                    "01"
                                                    "0100000000000000"
                                                    "00");
    QTest::newRow("lost without datagrams") << hex("010100000002000001"
                                                   "00"
                                                   "01"
                                                   "0100000000000000"
                                                   "01"
                                                   "0500000000000000");
    QTest::newRow("text beyond the end") << hex("010100000002000010"
                                                "00"
                                                "01"
                                                "0100000000000000"
                                                "01"
                                                "ff62");
    QTest::newRow("text that is none") << hex("010100000002000010"
                                              "00"
                                              "01"
                                              "0100000000000000"
                                              "01"
                                              "02fffe");
    QTest::newRow("count without streams") << hex("01ffffffff02000000");
    QTest::newRow("too many streams") << hex("010100100002000000") + QByteArray(9'000'000, '\1');
    QTest::newRow("text") << QByteArray("[{\"number\": 1}]");
}

void TestStreamBlob::refusesOtherBytes() {
    QFETCH(QByteArray, bytes);
    QVERIFY(!decodeStreams(bytes));
}

void TestStreamBlob::refusesEveryTruncation() {
    const QByteArray whole = encodeStreams(example::streams());
    QVERIFY(decodeStreams(whole));
    for (qsizetype length = 0; length < whole.size(); ++length)
        QVERIFY2(!decodeStreams(whole.first(length)), qPrintable(QString::number(length)));
    QVERIFY(!decodeStreams(whole + '\0'));
}

/// What is read at all is what would be written.
void TestStreamBlob::survivesEveryByte() {
    const QByteArray whole = encodeStreams(example::streams());
    for (qsizetype at = 0; at < whole.size(); ++at) {
        for (const char byte : {'\0', '\1', '\x7f', '\x80', '\xff'}) {
            QByteArray damaged = whole;
            damaged[at] = byte;
            if (const auto streams = decodeStreams(damaged))
                QCOMPARE(encodeStreams(*streams), damaged);
        }
    }
}

QTEST_APPLESS_MAIN(TestStreamBlob)
#include "tst_streamblob.moc"
