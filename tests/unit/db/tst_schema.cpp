// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/runrepository.h"
#include "db/schema.h"
#include "examplerun.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <future>
#include <vector>

using namespace knobscope;

class TestSchema : public QObject {
    Q_OBJECT
private slots:
    void init();
    void makesFileAndFolders();
    void takesAnEmptyFile();
    void manyOpenANewFileAtOnce();
    void setsWhatItPromises();
    void openingAgainChangesNothing();
    void migratesFromEachVersion_data();
    void migratesFromEachVersion();
    void olderFilesKeepTheirSamples();
    void aFailedMigrationLeavesTheOldSchema();
    void refusesForeignFiles_data();
    void refusesForeignFiles();
    void refusesANewerVersion();
    void refusesAnotherProgramsDatabase();
    void refusesAFolder();

private:
    [[nodiscard]] QString path(const QString& name = QStringLiteral("runs.db")) const {
        return m_dir->filePath(name);
    }
    [[nodiscard]] static QByteArray contents(const QString& path) {
        QFile file(path);
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }
    /// Runs statements on the file as some other program would.
    static void change(const QString& path, const QList<QByteArray>& statements) {
        const auto database = Database::open(path);
        QVERIFY(database);
        for (const QByteArray& statement : statements) {
            const auto done = (*database)->execOnce(statement.toStdString());
            QVERIFY2(done, done ? "" : qPrintable(done.error().text()));
        }
    }
    static qint64 pragma(const QString& path, std::string_view sql) {
        const auto database = Database::open(path);
        const auto value = database ? (*database)->value(sql) : Result<std::optional<QVariant>>();
        return value && *value ? (*value)->toLongLong() : -1;
    }
    std::unique_ptr<QTemporaryDir> m_dir;
};

void TestSchema::init() {
    m_dir = std::make_unique<QTemporaryDir>();
    QVERIFY(m_dir->isValid());
}

void TestSchema::makesFileAndFolders() {
    const QString deep = path(QStringLiteral("a/b ü/runs.db"));
    const auto repository = RunRepository::open(deep);
    QVERIFY2(repository, repository ? "" : qPrintable(repository.error().text()));
    QVERIFY(QFile::exists(deep));
}

void TestSchema::takesAnEmptyFile() {
    QFile file(path());
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.close();
    QVERIFY(RunRepository::open(path()));
    QCOMPARE(pragma(path(), "PRAGMA user_version"), static_cast<qint64>(migrations().size()));
}

/// As the windows do at the first start: a list is read while a run is made.
void TestSchema::manyOpenANewFileAtOnce() {
    for (int turn = 0; turn < 20; ++turn) {
        const QString file = path(QStringLiteral("runs%1.db").arg(turn));
        std::vector<std::future<QString>> errors;
        for (int i = 0; i < 4; ++i) {
            errors.push_back(std::async(std::launch::async, [file] {
                const auto repository = RunRepository::open(file);
                return repository ? QString() : repository.error().text();
            }));
        }
        for (auto& error : errors)
            QCOMPARE(error.get(), QString());
    }
}

void TestSchema::setsWhatItPromises() {
    QVERIFY(RunRepository::open(path()));
    const auto database = Database::open(path());
    QVERIFY(database);
    QCOMPARE((*database)->value("PRAGMA journal_mode").value()->toString(), QStringLiteral("wal"));
    QCOMPARE((*database)->value("PRAGMA foreign_keys").value()->toInt(), 1);
    QCOMPARE((*database)->value("PRAGMA synchronous").value()->toInt(), 2);
    QVERIFY((*database)->value("PRAGMA busy_timeout").value()->toInt() >= 5000);
    QCOMPARE((*database)->value("PRAGMA application_id").value()->toInt(), 0x4B6E6F62);
}

void TestSchema::openingAgainChangesNothing() {
    QVERIFY(RunRepository::open(path()));
    const QByteArray before = contents(path());
    QVERIFY(RunRepository::open(path()));
    QCOMPARE(contents(path()), before);
}

void TestSchema::migratesFromEachVersion_data() {
    QTest::addColumn<int>("from");
    for (std::size_t version = 0; version <= migrations().size(); ++version)
        QTest::addRow("%zu", version) << static_cast<int>(version);
}

void TestSchema::migratesFromEachVersion() {
    QFETCH(int, from);
    {
        const auto database = Database::open(path());
        QVERIFY(database);
        const std::vector<Migration> old(migrations().begin(), migrations().begin() + from);
        QVERIFY(bringUpToDate(**database, old));
    }
    QCOMPARE(pragma(path(), "PRAGMA user_version"), from);
    const auto repository = RunRepository::open(path());
    QVERIFY(repository);
    const auto run =
        (*repository)->createRun(example::experiment(), expandMatrix(example::experiment()));
    QVERIFY(run);
    QVERIFY((*repository)->addSample(*run, example::sample(0, 0, 0)));
    QCOMPARE((*repository)->check().value(), QStringList());
}

/// Version 3 adds streams and hosts by number; what was stored before stays as it was. A program
/// that knows only version 2 keeps its hands off.
void TestSchema::olderFilesKeepTheirSamples() {
    const SampleRecord sample = example::sample(0, 0, 0);
    {
        const auto repository = RunRepository::open(path());
        QVERIFY(repository);
        const auto run =
            (*repository)->createRun(example::experiment(), expandMatrix(example::experiment()));
        QVERIFY(run && (*repository)->addSample(*run, sample));
    }
    const std::vector<Migration> old(migrations().begin(), migrations().begin() + 2);
    {
        const auto database = Database::open(path());
        const auto opened = bringUpToDate(**database, old);
        QVERIFY(!opened);
        QVERIFY2(opened.error().text().contains("newer"), qPrintable(opened.error().text()));
    }
    change(path(), {"DROP TABLE stream_figures", "PRAGMA user_version = 2"});
    const auto repository = RunRepository::open(path());
    QVERIFY2(repository, repository ? "" : qPrintable(repository.error().text()));
    const auto stored = (*repository)->loadRun(1);
    QVERIFY2(stored, stored ? "" : qPrintable(stored.error().text()));
    const SampleRecord& back = stored->samples.first();
    QVERIFY(back.metrics == sample.metrics && back.deltas == sample.deltas);
    QVERIFY(back.presentCounters == sample.presentCounters && back.series == sample.series);
    QVERIFY(back.streams.isEmpty());
    QVERIFY((*repository)->addSample(1, sample));
    QVERIFY((*repository)->loadRun(1)->samples.last().streams == sample.streams);
}

void TestSchema::aFailedMigrationLeavesTheOldSchema() {
    QVERIFY(RunRepository::open(path()));
    std::vector<Migration> steps = migrations();
    steps.push_back({"CREATE TABLE half_way (id INTEGER) STRICT", "CREATE NONSENSE"});
    {
        const auto database = Database::open(path());
        QVERIFY(database);
        const auto done = bringUpToDate(**database, steps);
        QVERIFY(!done);
        QCOMPARE(done.error().code, Error::Code::Storage);
    }
    QCOMPARE(pragma(path(), "PRAGMA user_version"), static_cast<qint64>(migrations().size()));
    QCOMPARE(pragma(path(), "SELECT COUNT(*) FROM sqlite_schema WHERE name = 'half_way'"), 0);

    steps.back().pop_back(); // the same without its mistake
    const auto database = Database::open(path());
    QVERIFY(database);
    QVERIFY(bringUpToDate(**database, steps));
    QCOMPARE(pragma(path(), "PRAGMA user_version"), static_cast<qint64>(steps.size()));
}

void TestSchema::refusesForeignFiles_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::newRow("text") << QByteArray("sample,throughput\n1,941\n");
    QTest::newRow("one byte") << QByteArray("x");
    QTest::newRow("random") << QByteArray(8192, '\x9d');
    QTest::newRow("magic only") << QByteArray("SQLite format 3\0", 16);
    QTest::newRow("magic, then nonsense")
        << QByteArray("SQLite format 3\0", 16) + QByteArray(8192, '\x55');
}

void TestSchema::refusesForeignFiles() {
    QFETCH(QByteArray, bytes);
    QFile file(path());
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(bytes);
    file.close();
    const auto repository = RunRepository::open(path());
    QVERIFY(!repository);
    QCOMPARE(repository.error().code, Error::Code::Storage);
    QVERIFY2(repository.error().text().contains(path()), qPrintable(repository.error().text()));
    QCOMPARE(contents(path()), bytes);
}

void TestSchema::refusesANewerVersion() {
    QVERIFY(RunRepository::open(path()));
    change(path(), {"PRAGMA user_version = 9999"});
    const QByteArray before = contents(path());
    const auto repository = RunRepository::open(path());
    QVERIFY(!repository);
    QCOMPARE(repository.error().code, Error::Code::Storage);
    QVERIFY2(repository.error().text().contains(QStringLiteral("newer")),
             qPrintable(repository.error().text()));
    QCOMPARE(contents(path()), before);
}

void TestSchema::refusesAnotherProgramsDatabase() {
    change(path(), {"CREATE TABLE bookmarks (url TEXT)", "INSERT INTO bookmarks VALUES ('x')"});
    const QByteArray before = contents(path());
    const auto repository = RunRepository::open(path());
    QVERIFY(!repository);
    QVERIFY2(repository.error().text().contains(QStringLiteral("another program")),
             qPrintable(repository.error().text()));
    QCOMPARE(contents(path()), before);
}

void TestSchema::refusesAFolder() {
    const auto repository = RunRepository::open(m_dir->path());
    QVERIFY(!repository);
    QCOMPARE(repository.error().code, Error::Code::Storage);
}

QTEST_GUILESS_MAIN(TestSchema)
#include "tst_schema.moc"
