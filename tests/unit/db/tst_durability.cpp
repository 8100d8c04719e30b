// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/runrepository.h"
#include "examplerun.h"

#include <QCoreApplication>
#include <QDir>
#include <QProcess>
#include <QRandomGenerator>
#include <QTemporaryDir>
#include <QTest>
#include <QThread>

#include <array>
#include <csignal>
#include <cstdio>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace knobscope;

/// What happens to the database when programs die, run at the same time, or have no room. The
/// other programs are this one, started with a role.
class TestDurability : public QObject {
    Q_OBJECT
private slots:
    void init();
    void killedProgramLosesNothing();
    void aReaderSeesWholeSamples();
    void twoProgramsMakeTheFileAtOnce();
    void claimHoldsOffAnotherProgram();
    void claimEndsWithItsProgram();
    void claimEndsWithTheRun();
    void aStartedProgramDoesNotKeepTheClaim();
    void unwritablePlacesAreRefused();
    void fullDiskFailsTheSampleOnly();

private:
    [[nodiscard]] QString path() const { return m_dir->filePath(QStringLiteral("runs.db")); }
    qint64 newRun() {
        const auto runs = RunRepository::open(path());
        const auto run =
            runs ? (*runs)->createRun(example::experiment(), expandMatrix(example::experiment()))
                 : Result<qint64>(-1);
        return run ? *run : -1;
    }
    void start(QProcess& process, const QString& role, qint64 run) {
        process.setProcessChannelMode(QProcess::ForwardedErrorChannel);
        process.start(QCoreApplication::applicationFilePath(),
                      {role, path(), QString::number(run)});
        QVERIFY(process.waitForStarted());
    }
    /// The first line it prints.
    static QByteArray line(QProcess& process) {
        while (!process.canReadLine()) {
            if (!process.waitForReadyRead(30000))
                return {};
        }
        return process.readLine().trimmed();
    }
    static QList<qint64> idsOf(const StoredRun& run) {
        QList<qint64> ids;
        for (const SampleRecord& sample : run.samples)
            ids.append(sample.id);
        return ids;
    }
    std::unique_ptr<QTemporaryDir> m_dir;
};

void TestDurability::init() {
    m_dir = std::make_unique<QTemporaryDir>();
    QVERIFY(m_dir->isValid());
}

void TestDurability::killedProgramLosesNothing() {
    const qint64 run = newRun();
    QVERIFY(run > 0);
    QList<qint64> reported;
    for (int round = 0; round < 25; ++round) {
        QProcess writer;
        start(writer, QStringLiteral("--add-samples"), run);
        QByteArray output = line(writer) + '\n';
        QVERIFY(output.size() > 1);
        // Killed at any point of whatever it does then, not at a tidy one.
        QThread::usleep(QRandomGenerator::global()->bounded(30000U));
        writer.kill();
        QVERIFY(writer.waitForFinished());
        QCOMPARE(writer.exitStatus(), QProcess::CrashExit);
        output += writer.readAllStandardOutput();
        output.truncate(output.lastIndexOf('\n')); // a line cut short was not reported
        for (const QByteArray& id : output.split('\n'))
            reported.append(id.toLongLong());

        const auto runs = RunRepository::open(path());
        QVERIFY2(runs, runs ? "" : qPrintable(runs.error().text()));
        QCOMPARE((*runs)->check().value(), QStringList());
        const auto stored = (*runs)->loadRun(run);
        QVERIFY2(stored, stored ? "" : qPrintable(stored.error().text()));
        const QList<qint64> ids = idsOf(*stored);
        // The last one may be stored without having been reported; none may be lost.
        const QSet<qint64> there(ids.begin(), ids.end());
        for (const qint64 id : reported)
            QVERIFY2(there.contains(id), qPrintable(QString::number(id)));
        for (const SampleRecord& sample : stored->samples) {
            QVERIFY(sample.series == example::sample(0, 0, 0).series);
            QCOMPARE(sample.metrics.size(), 4);
        }
    }
    QVERIFY(reported.size() >= 25);
}

void TestDurability::aReaderSeesWholeSamples() {
    const qint64 run = newRun();
    const auto runs = RunRepository::open(path());
    QProcess writer;
    start(writer, QStringLiteral("--add-samples"), run);
    QVERIFY(!line(writer).isEmpty());
    qsizetype last = 0;
    for (int i = 0; i < 50; ++i) {
        const auto stored = (*runs)->loadRun(run);
        QVERIFY2(stored, stored ? "" : qPrintable(stored.error().text()));
        QVERIFY(stored->samples.size() >= last);
        last = stored->samples.size();
        QCOMPARE(stored->info.samplesDone, last > 0 ? 1 : 0); // all are repeats of one block
        for (const SampleRecord& sample : stored->samples) {
            QCOMPARE(sample.metrics.size(), 4);
            QCOMPARE(sample.series.size(), 2);
            QCOMPARE(sample.presentCounters.size(), 2);
        }
    }
    QCOMPARE(writer.state(), QProcess::Running);
    writer.kill();
    QVERIFY(writer.waitForFinished());
}

void TestDurability::twoProgramsMakeTheFileAtOnce() {
    std::array<QProcess, 4> programs;
    for (QProcess& program : programs)
        start(program, QStringLiteral("--open"), 0);
    for (QProcess& program : programs) {
        QVERIFY(program.waitForFinished());
        QCOMPARE(program.readAllStandardOutput().trimmed(), QByteArray("open"));
    }
    QCOMPARE((*RunRepository::open(path()))->check().value(), QStringList());
}

void TestDurability::claimHoldsOffAnotherProgram() {
    const qint64 run = newRun();
    const qint64 other = newRun();
    QProcess holder;
    start(holder, QStringLiteral("--claim"), run);
    QCOMPARE(line(holder), QByteArray("claimed"));

    const auto runs = RunRepository::open(path());
    const auto refused = (*runs)->claimRun(run);
    QVERIFY(!refused);
    QCOMPARE(refused.error().code, Error::Code::BadInput);
    QVERIFY2(refused.error().text().contains(QStringLiteral("another program")),
             qPrintable(refused.error().text()));
    QVERIFY(!(*runs)->loadRun(run)->info.resumable);
    QVERIFY(!(*runs)->deleteRun(run));
    QVERIFY((*runs)->claimRun(other)); // the lock is on one run, not on all
    holder.kill();
    QVERIFY(holder.waitForFinished());
}

void TestDurability::claimEndsWithItsProgram() {
    const qint64 run = newRun();
    QProcess holder;
    start(holder, QStringLiteral("--claim"), run);
    QCOMPARE(line(holder), QByteArray("claimed"));
    holder.kill();
    QVERIFY(holder.waitForFinished());
    const auto runs = RunRepository::open(path());
    QVERIFY((*runs)->loadRun(run)->info.resumable);
    QVERIFY((*runs)->claimRun(run));
}

void TestDurability::claimEndsWithTheRun() {
    const qint64 run = newRun();
    const auto one = RunRepository::open(path());
    const auto two = RunRepository::open(path());
    QVERIFY((*one)->claimRun(run));
    QVERIFY((*one)->claimRun(run)); // its own already
    QVERIFY(!(*two)->claimRun(run));
    QVERIFY((*one)->setRunState(run, RunState::Running, {}));
    QVERIFY(!(*two)->claimRun(run));
    QVERIFY((*one)->setRunState(run, RunState::Cancelled, {}));
    QVERIFY((*two)->claimRun(run));
}

void TestDurability::aStartedProgramDoesNotKeepTheClaim() {
    const qint64 run = newRun();
    QProcess child;
    {
        const auto runs = RunRepository::open(path());
        QVERIFY((*runs)->claimRun(run));
        child.start(QStringLiteral("cat"), QStringList());
        QVERIFY(child.waitForStarted());
    }
    QVERIFY((*RunRepository::open(path()))->claimRun(run));
    child.closeWriteChannel();
    QVERIFY(child.waitForFinished());
}

void TestDurability::unwritablePlacesAreRefused() {
    newRun();
    const bool root = geteuid() == 0;
    QVERIFY(chmod(QFile::encodeName(path()).constData(), 0444) == 0);
    QVERIFY(chmod(QFile::encodeName(m_dir->path()).constData(), 0555) == 0);
    if (root) // root may write anywhere; see it as nobody does
        QVERIFY(seteuid(65534) == 0);
    const auto existing = RunRepository::open(path());
    const auto missing = RunRepository::open(m_dir->filePath(QStringLiteral("new.db")));
    const auto folder = RunRepository::open(m_dir->filePath(QStringLiteral("sub/new.db")));
    if (root)
        QVERIFY(seteuid(0) == 0);
    chmod(QFile::encodeName(m_dir->path()).constData(), 0755);
    for (const auto* refused : {&existing, &missing, &folder}) {
        QVERIFY(!*refused);
        QCOMPARE(refused->error().code, Error::Code::Storage);
        QVERIFY2(refused->error().text().contains(m_dir->path()),
                 qPrintable(refused->error().text()));
    }
}

void TestDurability::fullDiskFailsTheSampleOnly() {
    const qint64 run = newRun();
    QProcess writer;
    start(writer, QStringLiteral("--fill"), run);
    QVERIFY(writer.waitForFinished(60000));
    const QByteArray output = writer.readAllStandardOutput();
    QVERIFY2(output.contains("refused: "), output.constData());
    QVERIFY2(output.contains("full or failing"), output.constData());
    QVERIFY2(output.contains("smaller: stored"), output.constData());
    const auto runs = RunRepository::open(path());
    QVERIFY(runs);
    QCOMPARE((*runs)->check().value(), QStringList());
    const auto stored = (*runs)->loadRun(run);
    QVERIFY(stored);
    QCOMPARE(stored->samples.size(), static_cast<qsizetype>(output.count("stored")));
}

namespace {

void say(const QByteArray& text) {
    std::fwrite((text + '\n').constData(), 1, static_cast<std::size_t>(text.size()) + 1, stdout);
    std::fflush(stdout);
}

/// Adds samples until it is killed, and says each id once the call has returned.
int addSamples(RunRepository& runs, qint64 run) {
    for (int i = 0; i < 100000; ++i) {
        const auto id = runs.addSample(run, example::sample(0, 0, i));
        if (!id)
            return 1;
        say(QByteArray::number(*id));
    }
    return 0;
}

int holdClaim(RunRepository& runs, qint64 run) {
    const auto claimed = runs.claimRun(run);
    say(claimed ? QByteArray("claimed") : claimed.error().text().toUtf8());
    (void)getchar(); // until the pipe closes or the program is killed
    return 0;
}

/// No file may grow beyond a little more than it has; then a large sample cannot be stored, and a
/// small one can.
int fill(RunRepository& runs, qint64 run) {
    signal(SIGXFSZ, SIG_IGN);
    constexpr rlim_t kRoom = 512 * 1024;
    const rlimit limit{kRoom, kRoom};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return 1;
    SampleRecord large = example::sample(0, 0, 0);
    large.series[Side::Sender] = QList<SeriesPoint>(100000, SeriesPoint{1, 2, 3, {}, {}, {}});
    const auto refused = runs.addSample(run, large);
    say(refused ? QByteArray("stored") : "refused: " + refused.error().text().toUtf8());
    const auto smaller = runs.addSample(run, example::sample(0, 0, 1));
    say(smaller ? QByteArray("smaller: stored")
                : "smaller refused: " + smaller.error().text().toUtf8());
    return 0;
}

int play(const QString& role, const QString& path, qint64 run) {
    const auto runs = RunRepository::open(path);
    if (!runs) {
        say(runs.error().text().toUtf8());
        return 1;
    }
    if (role == QLatin1String("--add-samples"))
        return addSamples(**runs, run);
    if (role == QLatin1String("--claim"))
        return holdClaim(**runs, run);
    if (role == QLatin1String("--fill"))
        return fill(**runs, run);
    say("open");
    return 0;
}

} // namespace

int main(int argc, char* argv[]) {
    QCoreApplication application(argc, argv);
    const QStringList arguments = QCoreApplication::arguments();
    if (arguments.size() == 4 && arguments[1].startsWith(QLatin1String("--")))
        return play(arguments[1], arguments[2], arguments[3].toLongLong());
    TestDurability test;
    return QTest::qExec(&test, argc, argv);
}

#include "tst_durability.moc"
