// SPDX-License-Identifier: GPL-3.0-or-later
#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QLibraryInfo>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>

/// Holds the rule of the folders: app → {core, db}; db → core; core → agents/protocol;
/// agents → the standard library and the system. Qt modules: core has Qt Core only, db adds Qt SQL,
/// agents have none.
namespace {

struct Rule {
    QString folder;
    QStringList folders; ///< that it may include from
    QStringList modules; ///< of Qt; "*": all
    bool systemOnly;     ///< nothing but the standard library and system headers
};

const QList<Rule>& rules() {
    static const QList<Rule> all{
        {"app/", {"app/", "core/", "db/"}, {"*"}, false},
        {"db/", {"db/", "core/"}, {"QtCore", "QtSql"}, false},
        {"core/", {"core/", "agents/protocol/"}, {"QtCore"}, false},
        {"agents/protocol/", {"agents/protocol/"}, {}, true},
        {"agents/agent/", {"agents/agent/", "agents/protocol/"}, {}, true},
    };
    return all;
}

const QStringList& topLevel() {
    static const QStringList names{"app",
                                   "core",
                                   "agents",
                                   "resources",
                                   "db",
                                   "tests",
                                   "packaging",
                                   "CMakeLists.txt",
                                   "README.md",
                                   "LICENSE",
                                   "ARCHITECTURE.md",
                                   "CONTRIBUTING.md",
                                   "CMakePresets.json"};
    return names;
}

/// Qt module that has a header; empty for what is not of Qt.
QString qtModule(const QString& header) {
    static const QRegularExpression qtName(QStringLiteral("\\AQ[A-Za-z]\\w*(/\\w+)?\\z"));
    if (header == QLatin1String("qcustomplot.h"))
        return QStringLiteral("QtWidgets");
    if (!qtName.match(header).hasMatch())
        return {};
    const QDir headers(QLibraryInfo::path(QLibraryInfo::HeadersPath));
    const QStringList modules = headers.entryList({"Qt*"}, QDir::Dirs);
    // <QtWidgets/QWidget> and <QtWidgets> name their module themselves.
    if (const QString first = header.section(QLatin1Char('/'), 0, 0); modules.contains(first))
        return first;
    for (const QString& module : modules) {
        if (QFile::exists(headers.filePath(module + QLatin1Char('/') + header)))
            return module;
    }
    return QStringLiteral("an unknown Qt module");
}

bool isSystemHeader(const QString& header) {
    static const QRegularExpression standard(QStringLiteral("\\A[a-z_0-9]+\\z"));
    static const QRegularExpression system(
        QStringLiteral("\\A((sys|net|netinet|linux|arpa|asm)/)?[a-z_0-9-]+\\.h\\z"));
    return standard.match(header).hasMatch() || system.match(header).hasMatch();
}

/// What is wrong with one include of a file; empty when nothing is.
QString judge(const Rule& rule, const QString& file, const QString& header, bool quoted) {
    if (quoted) {
        if (header.contains(QLatin1String("..")))
            return QStringLiteral("name files from the top of the tree");
        if (!header.contains(QLatin1Char('/')))
            return {}; // beside the file
        for (const QString& folder : rule.folders) {
            if (header.startsWith(folder))
                return {};
        }
        return QStringLiteral("%1 may include from %2 only")
            .arg(rule.folder, rule.folders.join(QStringLiteral(", ")));
    }
    if (const QString module = qtModule(header); !module.isEmpty()) {
        if (rule.modules.contains(QStringLiteral("*")) || rule.modules.contains(module))
            return {};
        return QStringLiteral("%1 may not use %2").arg(rule.folder, module);
    }
    const bool jsonOfProtocol = file == QLatin1String("agents/protocol/json.h") &&
                                header == QLatin1String("nlohmann/json.hpp");
    if (rule.systemOnly && !jsonOfProtocol && !isSystemHeader(header))
        return QStringLiteral("%1 may use the standard library and system headers only")
            .arg(rule.folder);
    return {};
}

QStringList includeViolations(const QString& root) {
    static const QRegularExpression include(
        QStringLiteral("^\\s*#\\s*include\\s*([<\"])([^>\"]+)[>\"]"),
        QRegularExpression::MultilineOption);
    QStringList violations;
    for (const Rule& rule : rules()) {
        QDirIterator files(root + QLatin1Char('/') + rule.folder, {"*.h", "*.cpp", "*.h.in"},
                           QDir::Files, QDirIterator::Subdirectories);
        while (files.hasNext()) {
            QFile file(files.next());
            const QString name = QDir(root).relativeFilePath(file.fileName());
            if (!file.open(QIODevice::ReadOnly)) {
                violations << name + ": cannot be read";
                continue;
            }
            auto includes = include.globalMatch(QString::fromUtf8(file.readAll()));
            while (includes.hasNext()) {
                const auto match = includes.next();
                const QString why = judge(rule, name, match.captured(2), match.captured(1) == "\"");
                if (!why.isEmpty())
                    violations << QStringLiteral("%1: %2: %3").arg(name, match.captured(2), why);
            }
        }
    }
    return violations;
}

/// Entries of the top level that do not belong there. Build folders are nobody's.
QStringList strangersOnTop(const QString& root) {
    QStringList strangers;
    for (const QString& name : QDir(root).entryList(QDir::AllEntries | QDir::NoDotAndDotDot)) {
        if (!topLevel().contains(name) && !name.startsWith(QLatin1String("build")))
            strangers << name;
    }
    return strangers;
}

void plant(const QString& path, const QByteArray& text) {
    QVERIFY(QDir().mkpath(QFileInfo(path).path()));
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(text);
}

} // namespace

class TestDependencies : public QObject {
    Q_OBJECT
private slots:
    void pointOneWay();
    void topLevelIsClosed();
    void violationsAreSeen_data();
    void violationsAreSeen();
    void strangersAreSeen();
};

void TestDependencies::pointOneWay() {
    const QString root = QStringLiteral(KNOBSCOPE_SOURCE_DIR);
    QVERIFY(QFile::exists(root + "/core/result.h"));
    const QStringList violations = includeViolations(root);
    QVERIFY2(violations.isEmpty(), qPrintable(violations.join(QLatin1Char('\n'))));
}

void TestDependencies::topLevelIsClosed() {
    const QString root = QStringLiteral(KNOBSCOPE_SOURCE_DIR);
    const QStringList strangers = strangersOnTop(root);
    QVERIFY2(strangers.isEmpty(), qPrintable(strangers.join(QLatin1Char('\n'))));
    for (const QString folder : {"app", "core", "agents", "db", "resources", "tests"})
        QVERIFY2(QFileInfo(root + QLatin1Char('/') + folder).isDir(), qPrintable(folder));
}

void TestDependencies::violationsAreSeen_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<QByteArray>("line");
    QTest::addColumn<bool>("violation");
    const auto row = [](const char* name, const char* file, const char* line, bool violation) {
        QTest::newRow(name) << QString::fromLatin1(file) << QByteArray(line) << violation;
    };
    row("app to core", "app/gui/a.cpp", "#include \"core/model/run.h\"", false);
    row("app to db", "app/gui/a.cpp", "#include \"db/runrepository.h\"", false);
    row("app to protocol", "app/cli/a.cpp", "#include \"agents/protocol/protocol.h\"", true);
    row("app to agent", "app/cli/a.cpp", "#include \"agents/agent/error.h\"", true);
    row("app to widgets", "app/gui/a.cpp", "#include <QWidget>", false);
    row("db to core", "db/a.cpp", "#include \"core/result.h\"", false);
    row("db to app", "db/a.cpp", "#include \"app/figure/curvefigure.h\"", true);
    row("db to SQL", "db/a.cpp", "#include <QSqlQuery>", false);
    row("db to GUI", "db/a.cpp", "#include <QImage>", true);
    row("core to protocol", "core/run/a.h", "#include \"agents/protocol/json.h\"", false);
    row("core to agent", "core/run/a.h", "#include \"agents/agent/error.h\"", true);
    row("core to db", "core/run/a.h", "#include \"db/database.h\"", true);
    row("core to app", "core/run/a.h", "#include \"app/figure/curvefigure.h\"", true);
    row("core to SQL", "core/run/a.h", "#include <QSqlDatabase>", true);
    row("core to widgets", "core/run/a.h", "#include <QtWidgets/QWidget>", true);
    row("core to widgets, all", "core/run/a.h", "#include <QtWidgets>", true);
    row("core to GUI", "core/run/a.h", "  #  include <QColor>", true);
    row("core to plots", "core/run/a.h", "#include <qcustomplot.h>", true);
    row("core to Qt Core", "core/run/a.h", "#include <QtCore/QString>", false);
    row("core to QtEndian", "core/run/a.h", "#include <QtEndian>", false);
    row("core to no Qt", "core/run/a.h", "#include <QNoSuchClass>", true);
    row("core to libssh", "core/host/a.cpp", "#include <libssh/libssh.h>", false);
    row("core upwards", "core/host/a.cpp", "#include \"../../db/database.h\"", true);
    row("core beside", "core/host/a.cpp", "#include \"b.h\"", false);
    row("agent to protocol", "agents/agent/a.cpp", "#include \"agents/protocol/json.h\"", false);
    row("agent to core", "agents/agent/a.cpp", "#include \"core/result.h\"", true);
    row("agent to Qt", "agents/agent/a.cpp", "#include <QString>", true);
    row("agent to JSON itself", "agents/agent/a.cpp", "#include <nlohmann/json.hpp>", true);
    row("agent to boost", "agents/agent/a.cpp", "#include <boost/asio.hpp>", true);
    row("agent to system", "agents/agent/a.cpp", "#include <linux/ethtool.h>", false);
    row("protocol to JSON", "agents/protocol/json.h", "#include <nlohmann/json.hpp>", false);
    row("protocol to agent", "agents/protocol/a.h", "#include \"agents/agent/error.h\"", true);
    row("in a comment", "core/run/a.h", "// #include <QWidget>", false);
}

void TestDependencies::violationsAreSeen() {
    QFETCH(QString, file);
    QFETCH(QByteArray, line);
    QFETCH(bool, violation);
    QTemporaryDir tree;
    plant(tree.filePath(file), "// a file\n#include <vector>\n" + line + "\nint a;\n");
    const QStringList violations = includeViolations(tree.path());
    QCOMPARE(violations.size(), violation ? 1 : 0);
    if (violation)
        QVERIFY2(violations[0].startsWith(file + ": "), qPrintable(violations[0]));
}

void TestDependencies::strangersAreSeen() {
    QTemporaryDir tree;
    for (const QString name : {"core/a.h", "build/x", "build-asan/x", ".ci/run", "README.md"})
        plant(tree.filePath(name), "x");
    QVERIFY(strangersOnTop(tree.path()).isEmpty());
    plant(tree.filePath("notes.txt"), "x");
    plant(tree.filePath("src/a.cpp"), "x");
    QCOMPARE(strangersOnTop(tree.path()), QStringList({"notes.txt", "src"}));
}

QTEST_APPLESS_MAIN(TestDependencies)
#include "tst_dependencies.moc"
