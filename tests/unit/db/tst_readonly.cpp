// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/runrepository.h"
#include "examplerun.h"

#include <QCoreApplication>
#include <QDir>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <cstdio>

#include <sys/stat.h>
#include <unistd.h>

using namespace knobscope;

/// Reading runs where nothing can be written, or where there is no database. The writers are this
/// program, started with a role: within one process SQLite shares what it knows of a file.
class TestReadOnly : public QObject {
    Q_OBJECT
private slots:
    void init();
    void noFileIsAnErrorAndStaysNone();
    void otherFilesAreRefusedAndStay_data();
    void otherFilesAreRefusedAndStay();
    void readsWhereNothingCanBeWritten_data();
    void readsWhereNothingCanBeWritten();
    void readsALinkedFile();
    void readsBesideALivingWriter();
    void readsWhatADeadWriterLeft();
    void leavesNothingOutSilently();
    void otherReadersLeaveTheLogOfAWriter_data();
    void otherReadersLeaveTheLogOfAWriter();
    void tellsWhetherTheRunLives();

private:
    static constexpr uid_t kNobody = 65534;

    [[nodiscard]] QString path(const QString& name = QStringLiteral("runs.db")) const {
        return m_dir->filePath(name);
    }
    [[nodiscard]] QStringList files() const {
        return QDir(m_dir->path()).entryList(QDir::AllEntries | QDir::NoDotAndDotDot, QDir::Name);
    }
    static qint64 store(RunRepository& runs) {
        const auto run = runs.createRun(example::experiment(), expandMatrix(example::experiment()));
        if (run)
            (void)runs.addSample(*run, example::sample(0, 0, 0));
        return run.value_or(-1);
    }
    /// A database with one run of one sample, closed well.
    void make(const QString& name) {
        const auto runs = RunRepository::open(path(name));
        QVERIFY(runs);
        QCOMPARE(store(**runs), 1);
    }
    /// One that has stored a run and goes on living.
    void startWriter(QProcess& writer) {
        writer.start(QCoreApplication::applicationFilePath(), {"--write", path()});
        QVERIFY(writer.waitForReadyRead(30000));
        QCOMPARE(writer.readAllStandardOutput(), QByteArray("stored\n"));
        QVERIFY(QFileInfo(path() + "-wal").size() > 0); // the run is in the log only
    }
    void forbidWriting() {
        for (const QString& file : files())
            QVERIFY(chmod(QFile::encodeName(path(file)).constData(), 0444) == 0);
        QVERIFY(chmod(QFile::encodeName(m_dir->path()).constData(), 0555) == 0);
    }
    /// As somebody who may not write there; root may write anywhere.
    template<typename Work>
    static auto asNobody(Work work) {
        const bool root = geteuid() == 0;
        if (root && seteuid(kNobody) != 0)
            qFatal("No other user can be played");
        auto result = work();
        if (root && seteuid(0) != 0)
            qFatal("Root cannot be had again");
        return result;
    }
    static Result<StoredRun> load(const QString& file) {
        return asNobody([&]() -> Result<StoredRun> {
            const auto runs = RunRepository::openToRead(file);
            if (!runs)
                return tl::unexpected<Error>(runs.error());
            return (*runs)->loadRun(1);
        });
    }
    static QString errorOf(const Result<StoredRun>& run) {
        return run ? QString() : run.error().text();
    }
    std::unique_ptr<QTemporaryDir> m_dir;
};

void TestReadOnly::init() {
    if (m_dir)
        chmod(QFile::encodeName(m_dir->path()).constData(), 0755); // so that it can be removed
    m_dir = std::make_unique<QTemporaryDir>();
    QVERIFY(m_dir->isValid());
}

void TestReadOnly::noFileIsAnErrorAndStaysNone() {
    for (const char* name : {"runs.db", "sub/runs.db"}) {
        const auto runs = RunRepository::openToRead(path(QLatin1String(name)));
        QVERIFY(!runs);
        QCOMPARE(runs.error().code, Error::Code::BadInput);
        QVERIFY2(runs.error().text().contains(QLatin1String(name)),
                 qPrintable(runs.error().text()));
    }
    QCOMPARE(files(), QStringList());
    QVERIFY(!RunRepository::openToRead(m_dir->path()));
    QVERIFY(!RunRepository::openToRead(QString()));
}

void TestReadOnly::otherFilesAreRefusedAndStay_data() {
    QTest::addColumn<QByteArray>("content");
    QTest::newRow("empty") << QByteArray();
    QTest::newRow("text") << QByteArray("{ \"name\": 1 }");
    QTest::newRow("header only") << QByteArray("SQLite format 3\0", 16);
}

void TestReadOnly::otherFilesAreRefusedAndStay() {
    QFETCH(QByteArray, content);
    {
        QFile file(path());
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(content);
    }
    forbidWriting();
    const auto run = load(path());
    QVERIFY(!run);
    QVERIFY2(run.error().text().contains(path()), qPrintable(run.error().text()));
    QCOMPARE(files(), QStringList{"runs.db"});
    QCOMPARE(QFileInfo(path()).size(), content.size());
}

void TestReadOnly::readsWhereNothingCanBeWritten_data() {
    QTest::addColumn<QString>("name");
    QTest::newRow("plain") << "runs.db";
    // Such names must not be taken for a part of an address.
    QTest::newRow("question mark") << "a?mode=memory.db";
    QTest::newRow("hash and percent") << "50%41#b &c.db";
    QTest::newRow("letters") << "größe 窗口.db";
}

void TestReadOnly::readsWhereNothingCanBeWritten() {
    QFETCH(QString, name);
    make(name);
    QFile::remove(path(name) + ".lock"); // as on a copied file
    const QStringList before = files();
    forbidWriting();
    const auto run = load(path(name));
    QVERIFY2(run, qPrintable(errorOf(run)));
    QCOMPARE(run->samples.size(), 1);
    const auto list =
        asNobody([&] { return (*RunRepository::openToRead(path(name)))->listRuns(); });
    QVERIFY(list);
    QCOMPARE(list->size(), 1);
    QCOMPARE(files(), before);
}

void TestReadOnly::readsALinkedFile() {
    make("runs.db");
    QVERIFY(QDir(m_dir->path()).mkdir("links"));
    QVERIFY(QFile::link(path(), path("links/linked.db")));
    forbidWriting();
    QVERIFY(chmod(QFile::encodeName(path("links")).constData(), 0555) == 0);
    const auto run = load(path("links/linked.db"));
    chmod(QFile::encodeName(path("links")).constData(), 0755);
    QVERIFY2(run, qPrintable(errorOf(run)));
}

void TestReadOnly::readsBesideALivingWriter() {
    QProcess writer;
    startWriter(writer);
    forbidWriting();
    const QStringList before = files();
    const auto run = load(path());
    QVERIFY2(run, qPrintable(errorOf(run)));
    QCOMPARE(run->samples.size(), 1);
    QCOMPARE(files(), before);
    writer.kill();
    writer.waitForFinished();
}

void TestReadOnly::readsWhatADeadWriterLeft() {
    QProcess writer;
    startWriter(writer);
    writer.kill();
    QVERIFY(writer.waitForFinished());
    forbidWriting();
    const QStringList before = files();
    const auto run = load(path());
    QVERIFY2(run, qPrintable(errorOf(run)));
    QCOMPARE(run->samples.size(), 1);
    QCOMPARE(files(), before);
}

void TestReadOnly::leavesNothingOutSilently() {
    QProcess writer;
    startWriter(writer);
    writer.kill();
    QVERIFY(writer.waitForFinished());
    QVERIFY(QFile::remove(path() + "-shm")); // as in a copy
    forbidWriting();
    const QStringList before = files();
    const auto run = load(path());
    QVERIFY(!run);
    QCOMPARE(run.error().code, Error::Code::Storage);
    QVERIFY2(run.error().text().contains("runs.db-wal"), qPrintable(run.error().text()));
    QCOMPARE(files(), before);
    // In a folder of one's own nothing stands against it.
    chmod(QFile::encodeName(m_dir->path()).constData(), 0755);
    chmod(QFile::encodeName(path()).constData(), 0644);
    const auto runs = RunRepository::openToRead(path());
    QVERIFY(runs);
    QCOMPARE((*runs)->loadRun(1)->samples.size(), 1);
}

void TestReadOnly::otherReadersLeaveTheLogOfAWriter_data() {
    QTest::addColumn<bool>("readOnly");
    QTest::newRow("open") << false;
    QTest::newRow("open to read") << true;
}

/// The windows open the database once more in the process that measures. Whatever that does to the
/// file, a third program must still see that the log belongs to somebody.
void TestReadOnly::otherReadersLeaveTheLogOfAWriter() {
    QFETCH(bool, readOnly);
    auto writer = RunRepository::open(path());
    QVERIFY(writer);
    const qint64 run = store(**writer);
    const auto inode = [&] {
        struct stat info {};
        return stat(QFile::encodeName(path() + "-wal").constData(), &info) == 0 ? info.st_ino : 0;
    };
    const auto log = inode();
    QVERIFY(log != 0);
    QVERIFY(readOnly ? RunRepository::openToRead(path()) : RunRepository::open(path()));
    QCOMPARE(QProcess::execute(QStringLiteral("sqlite3"),
                               {path(), QStringLiteral("SELECT COUNT(*) FROM sample")}),
             0);
    QCOMPARE(inode(), log);
    QVERIFY((*writer)->addSample(run, example::sample(1, 0, 1)));
    // What another program sees now is what would be left if this one were killed.
    QProcess other;
    other.start(QStringLiteral("sqlite3"), {path(), QStringLiteral("SELECT COUNT(*) FROM sample")});
    QVERIFY(other.waitForFinished());
    QCOMPARE(other.readAllStandardOutput().trimmed(), QByteArray("2"));
}

void TestReadOnly::tellsWhetherTheRunLives() {
    QProcess writer;
    startWriter(writer); // it has claimed the run
    forbidWriting();
    auto run = load(path());
    QVERIFY2(run, qPrintable(errorOf(run)));
    QVERIFY(!run->info.resumable);
    writer.kill();
    QVERIFY(writer.waitForFinished());
    run = load(path());
    QVERIFY2(run, qPrintable(errorOf(run)));
    QVERIFY(run->info.resumable);
}

namespace {

int write(const QString& path) {
    const auto runs = RunRepository::open(path);
    if (!runs)
        return 1;
    const auto run = (*runs)->createRun(example::experiment(), expandMatrix(example::experiment()));
    if (!run || !(*runs)->claimRun(*run) || !(*runs)->addSample(*run, example::sample(0, 0, 0)))
        return 1;
    std::puts("stored");
    std::fflush(stdout);
    return std::getchar(); // until the end of the input, or of the program
}

} // namespace

int main(int argc, char* argv[]) {
    const QCoreApplication application(argc, argv);
    if (argc == 3 && qstrcmp(argv[1], "--write") == 0)
        return write(QString::fromLocal8Bit(argv[2]));
    TestReadOnly test;
    return QTest::qExec(&test, argc, argv);
}

#include "tst_readonly.moc"
