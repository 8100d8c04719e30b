// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/agentcalls.h"
#include "core/run/samplerunner.h"
#include "core/run/traffic.h"
#include "fakehost.h"

#include <QTest>

using namespace knobscope;
using namespace knobscope::test;
using Asked = FakeHosts::Asked;
namespace method = protocol::method;

namespace {

Result<HostGroup> openGroup(FakeHosts& hosts, const Experiment& experiment) {
    return HostGroup::open(experiment, HostOptions{}, CancelToken{}, hosts.opener());
}

Result<Json> ok() {
    return Json::object();
}

Result<Json> failed(Error::Code code, const char* what) {
    return fail(code, QString::fromUtf8(what));
}

protocol::KnobOutcome outcomeOf(const protocol::KnobSetting& setting, const char* status) {
    protocol::KnobOutcome outcome;
    outcome.name = setting.name;
    outcome.interface = setting.interface;
    outcome.requested = setting.value;
    outcome.original = "1";
    outcome.status = status;
    outcome.accepted = outcome.status == "applied" ? setting.value : "1";
    return outcome;
}

/// What well-meaning agents answer.
Result<Json> usual(const Asked& asked) {
    if (asked.method == method::kTrafficPrepare)
        return Json(protocol::PrepareResult{4000 + asked.agent});
    if (asked.method == method::kTrafficResult) {
        protocol::TrafficResult result;
        result.elapsed_s = 1;
        result.strangers = asked.agent;
        return Json(result);
    }
    if (asked.method == method::kSnapshot)
        return Json(protocol::Snapshot{});
    if (asked.method == method::kKnobApply) {
        std::vector<protocol::KnobOutcome> outcomes;
        for (const auto& setting : asked.params.get<std::vector<protocol::KnobSetting>>())
            outcomes.push_back(outcomeOf(setting, "applied"));
        return Json(outcomes);
    }
    if (asked.method == method::kKnobRead) {
        std::vector<protocol::KnobReading> readings;
        for (const auto& knob : asked.params.get<std::vector<protocol::KnobTarget>>())
            readings.push_back({knob.name, "2", ""});
        return Json(readings);
    }
    return Json::object();
}

Cell onlyCell(const Experiment& experiment) {
    return expandMatrix(experiment).first();
}

} // namespace

/// Many hosts at once, which exist in the test only.
class TestHostGroup : public QObject {
    Q_OBJECT
private slots:
    void opensAnAgentForEachPart_data();
    void opensAnAgentForEachPart();
    void opensAtOnceButNotTooManyOnOneHost();
    void errorsNameTheHost_data();
    void errorsNameTheHost();
    void refusesOneMachineTwice_data();
    void refusesOneMachineTwice();
    void waitsForHostsInUse();
    void startsAllBeforeItWaits();
    void preparesEachInstanceWithItsHosts();
    void pairsResultsWithTheirInstances();
    void oneThatFailsStopsTheOthers_data();
    void oneThatFailsStopsTheOthers();
    void stopEndsAll();
    void setsKnobsOnEveryHost();
    void aKnobThatOneHostRefusesFailsTheSample();
    void whatAHostRemarksIsTold();
};

void TestHostGroup::opensAnAgentForEachPart_data() {
    QTest::addColumn<int>("senders");
    QTest::addColumn<int>("receivers");
    QTest::addColumn<int>("agents");
    QTest::newRow("1 to 1") << 1 << 1 << 2;
    QTest::newRow("3 to 1") << 3 << 1 << 6;
    QTest::newRow("1 to 4") << 1 << 4 << 8;
    QTest::newRow("3 to 3") << 3 << 3 << 6;
}

void TestHostGroup::opensAnAgentForEachPart() {
    QFETCH(int, senders);
    QFETCH(int, receivers);
    QFETCH(int, agents);
    FakeHosts fake;
    const Experiment experiment = fakeExperiment(senders, receivers);
    {
        auto group = openGroup(fake, experiment);
        QVERIFY2(group, group ? "" : qPrintable(group.error().text()));
        QCOMPARE(fake.open(), agents);
        QCOMPARE(fake.groups().size(), std::size_t{1}); // they share their hosts
        QCOMPARE(group->hosts(), experiment.hostRefs());
        QCOMPARE(group->instances(), std::max(senders, receivers));
        std::set<const HostSession*> ends;
        for (int i = 0; i < group->instances(); ++i) {
            for (const Side side : {Side::Sender, Side::Receiver}) {
                ends.insert(&group->end(i, side));
                QCOMPARE(group->end(i, side).label(),
                         experiment.host(experiment.endOf(i, side)).label());
            }
        }
        QCOMPARE(ends.size(), static_cast<std::size_t>(agents)); // none has two parts
        for (const HostRef host : group->hosts()) {
            QCOMPARE(group->at(host).label(), experiment.host(host).label());
            QCOMPARE(&group->at(host), group->agents(host).front());
        }
        QVERIFY(!group->anyLost());
        fake.lose(QStringLiteral("s1"));
        QVERIFY(group->anyLost());
    }
    QCOMPARE(fake.open(), 0);
}

/// A usual sshd drops logins beyond ten at once.
void TestHostGroup::opensAtOnceButNotTooManyOnOneHost() {
    FakeHosts pairs;
    QVERIFY(openGroup(pairs, fakeExperiment(3, 3)));
    QCOMPARE(pairs.mostOpening(), 6);
    FakeHosts many;
    QVERIFY(openGroup(many, fakeExperiment(16, 1)));
    QCOMPARE(many.mostOpening(), 17);
    QVERIFY(many.mostOpening(QStringLiteral("r1")) > 1);
    QVERIFY(many.mostOpening(QStringLiteral("r1")) < 10);
}

void TestHostGroup::errorsNameTheHost_data() {
    QTest::addColumn<QStringList>("refused");
    QTest::addColumn<int>("agent"); // of a refused host, from which on it refuses
    QTest::addColumn<QString>("says");
    QTest::newRow("a sender") << QStringList{"s2"} << 0 << "s2 is off";
    QTest::newRow("the receiver") << QStringList{"r1"} << 0 << "r1 is off";
    QTest::newRow("the first of several") << QStringList{"r1", "s3", "s2"} << 0 << "s2 is off";
    QTest::newRow("a further agent") << QStringList{"r1"} << 1 << "r1 is off";
}

void TestHostGroup::errorsNameTheHost() {
    QFETCH(QStringList, refused);
    QFETCH(int, agent);
    FakeHosts fake;
    fake.refuseOpening = [&](const HostSpec& host, int number) -> std::optional<Error> {
        if (refused.contains(host.ssh) && number >= agent)
            return Error{Error::Code::HostUnusable, host.ssh + QStringLiteral(" is off")};
        return std::nullopt;
    };
    const auto group = openGroup(fake, fakeExperiment(3, 1));
    QVERIFY(!group);
    QTEST(group.error().message, "says");
    QCOMPARE(fake.open(), 0);
}

void TestHostGroup::refusesOneMachineTwice_data() {
    QTest::addColumn<Experiment>("experiment");
    QTest::addColumn<QString>("same"); // names of one machine
    QTest::addColumn<QString>("says"); // empty: it opens
    QTest::newRow("distinct") << fakeExperiment(2, 1) << ""
                              << "";
    QTest::newRow("the pair") << fakeExperiment(1, 1) << "s1 r1"
                              << "Sender and receiver (s1 and r1) are the same machine";
    QTest::newRow("two senders") << fakeExperiment(3, 1) << "s1 s3"
                                 << "Sender 1 and sender 3 (s1 and s3) are the same machine";
    QTest::newRow("one of each side") << fakeExperiment(2, 2) << "s2 r1"
                                      << "Sender 2 and receiver 1 (s2 and r1) are the same machine";
    Experiment local = fakeExperiment(2, 1);
    for (HostSpec* host : {&local.sender, &local.receiver, &local.moreSenders.first()})
        host->local = true;
    QTest::newRow("this computer alone") << local << ""
                                         << "";
}

void TestHostGroup::refusesOneMachineTwice() {
    QFETCH(Experiment, experiment);
    QFETCH(QString, same);
    QFETCH(QString, says);
    FakeHosts fake;
    const auto machineOf = fake.machineOf;
    fake.machineOf = [&](const HostSpec& host) {
        return same.split(u' ').contains(host.ssh) ? std::string("one") : machineOf(host);
    };
    const auto group = openGroup(fake, experiment);
    if (says.isEmpty()) {
        QVERIFY(group);
        return;
    }
    QVERIFY(!group);
    QCOMPARE(group.error().code, Error::Code::BadInput);
    QCOMPARE(group.error().message, says);
}

void TestHostGroup::waitsForHostsInUse() {
    FakeHosts fake;
    std::atomic<int> refusals = 2;
    fake.answer = [&](const Asked& asked) -> Result<Json> {
        if (asked.label == QLatin1String("s2") && refusals-- > 0)
            return failed(Error::Code::HostUnusable, "this host is in use by another");
        return ok();
    };
    auto group = openGroup(fake, fakeExperiment(3, 1));
    QVERIFY(group->claim(std::chrono::seconds(5), {}));
    std::set<QString> held;
    for (const Asked& asked : fake.asked(method::kHostClaim)) {
        QCOMPARE(asked.agent, 0);
        held.insert(asked.label);
    }
    QCOMPARE(held.size(), std::size_t{4});

    refusals = 1000;
    const auto claimed = group->claim(std::chrono::milliseconds(150), {});
    QVERIFY(!claimed);
    QCOMPARE(claimed.error().code, Error::Code::HostUnusable);
    QCOMPARE(claimed.error().message, QStringLiteral("s2: this host is in use by another"));
    CancelToken cancel;
    cancel.cancel();
    QCOMPARE(group->claim(std::chrono::seconds(60), cancel).error().code, Error::Code::Cancelled);
}

/// No host answers before all of its side have been asked: who waited for the first would wait in
/// vain.
void TestHostGroup::startsAllBeforeItWaits() {
    for (const auto& [senders, receivers] : {std::pair(3, 1), std::pair(1, 4), std::pair(2, 2)}) {
        FakeHosts fake;
        fake.answer = usual;
        const Experiment experiment = fakeExperiment(senders, receivers);
        const auto parts = static_cast<std::size_t>(experiment.instances());
        for (const char* method : {method::kTrafficPrepare, method::kTrafficStart}) {
            fake.gate(method, u's', parts);
            fake.gate(method, u'r', parts);
        }
        auto group = openGroup(fake, experiment);
        QVERIFY(group);
        const auto moved = transferTraffic(experiment, onlyCell(experiment), *group, CancelToken{});
        QVERIFY2(moved, moved ? "" : qPrintable(moved.error().text()));
        // The receivers are told to start before any sender is.
        QStringList started;
        for (const Asked& asked : fake.asked(method::kTrafficStart))
            started << asked.label.left(1);
        QCOMPARE(started.join(QString()), QString(u'r').repeated(experiment.instances()) +
                                              QString(u's').repeated(experiment.instances()));
    }
}

void TestHostGroup::preparesEachInstanceWithItsHosts() {
    FakeHosts fake;
    fake.answer = usual;
    const Experiment experiment = fakeExperiment(3, 1);
    auto group = openGroup(fake, experiment);
    QVERIFY(prepareTraffic(experiment, onlyCell(experiment), *group));
    std::map<std::string, int> ports; // by token, as the receiver's agents told
    for (const Asked& asked : fake.asked(method::kTrafficPrepare)) {
        const auto params = asked.params.get<protocol::PrepareParams>();
        if (asked.label == QLatin1String("r1")) {
            QCOMPARE(params.role, std::string("server"));
            QCOMPARE(params.address, std::string("10.0.2.1"));
            ports[params.token] = 4000 + asked.agent;
            continue;
        }
        QCOMPARE(params.role, std::string("client"));
        QCOMPARE(params.peer_address, std::string("10.0.2.1"));
        QCOMPARE(QString::fromStdString(params.address),
                 QStringLiteral("10.0.1.") + asked.label.mid(1));
        QCOMPARE(params.port, ports.at(params.token)); // of its own instance
    }
    QCOMPARE(ports.size(), std::size_t{3});
}

void TestHostGroup::pairsResultsWithTheirInstances() {
    FakeHosts fake;
    fake.answer = usual;
    const Experiment experiment = fakeExperiment(3, 1);
    auto group = openGroup(fake, experiment);
    const auto results = transferTraffic(experiment, onlyCell(experiment), *group, CancelToken{});
    QVERIFY(results);
    QCOMPARE(results->size(), std::size_t{3});
    for (const Asked& asked : fake.asked(method::kTrafficPrepare)) {
        const auto params = asked.params.get<protocol::PrepareParams>();
        if (params.role != "server")
            continue;
        // The agent that listened for sender i tells the result of instance i.
        const auto i = static_cast<std::size_t>(params.peer_address.back() - '1');
        QCOMPARE(results->at(i).receiver.strangers, asked.agent);
        QCOMPARE(results->at(i).sender.strangers, 0);
    }
}

void TestHostGroup::oneThatFailsStopsTheOthers_data() {
    QTest::addColumn<QString>("method");
    QTest::addColumn<QString>("host");
    QTest::addColumn<int>("code");
    const auto traffic = static_cast<int>(Error::Code::Traffic);
    const auto lost = static_cast<int>(Error::Code::LinkLost);
    QTest::newRow("cannot listen") << method::kTrafficPrepare << "r1" << traffic;
    QTest::newRow("cannot connect") << method::kTrafficPrepare << "s2" << traffic;
    QTest::newRow("does not start") << method::kTrafficStart << "s3" << traffic;
    QTest::newRow("fails on the way") << method::kTrafficResult << "s2" << traffic;
    QTest::newRow("is lost on the way") << method::kTrafficResult << "s3" << lost;
}

void TestHostGroup::oneThatFailsStopsTheOthers() {
    QFETCH(QString, method);
    QFETCH(QString, host);
    QFETCH(int, code);
    FakeHosts fake;
    fake.answer = [&](const Asked& asked) -> Result<Json> {
        if (asked.method == method.toStdString() && asked.label == host)
            return failed(static_cast<Error::Code>(code), "broken");
        // Its peer notices, too, and the others end by being cancelled.
        if (asked.method == method::kTrafficResult)
            return failed(asked.label == QLatin1String("r1") && code == int(Error::Code::LinkLost)
                              ? Error::Code::Traffic
                              : Error::Code::Cancelled,
                          "as told");
        return usual(asked);
    };
    const Experiment experiment = fakeExperiment(3, 1);
    auto group = openGroup(fake, experiment);
    const auto moved = transferTraffic(experiment, onlyCell(experiment), *group, CancelToken{});
    QVERIFY(!moved);
    QCOMPARE(int(moved.error().code), code);
    QCOMPARE(moved.error().message, host + QStringLiteral(": broken"));
    QCOMPARE(fake.asked(method::kTrafficCancel).size(), std::size_t{6}); // every agent
}

void TestHostGroup::stopEndsAll() {
    FakeHosts fake;
    CancelToken cancel;
    std::atomic<bool> flows = false;
    fake.answer = [&](const Asked& asked) -> Result<Json> {
        if (asked.method != method::kTrafficResult)
            return usual(asked);
        flows = true;
        return failed(Error::Code::Cancelled, "the test was cancelled");
    };
    const Experiment experiment = fakeExperiment(2, 2);
    auto group = openGroup(fake, experiment);
    cancel.cancel();
    const auto moved = transferTraffic(experiment, onlyCell(experiment), *group, cancel);
    QVERIFY(!moved);
    QCOMPARE(moved.error().code, Error::Code::Cancelled);
    QVERIFY(!flows); // nothing was begun any more
}

void TestHostGroup::setsKnobsOnEveryHost() {
    FakeHosts fake;
    fake.answer = usual;
    Experiment experiment = fakeExperiment(3, 1);
    experiment.axes = {Axis{QStringLiteral("sysctl:a.b"), Side::Sender, {KnobValue(qint64{7})}},
                       Axis{QStringLiteral("link:mtu"), Side::Receiver, {KnobValue(qint64{1400})}}};
    auto group = openGroup(fake, experiment);
    SampleRunner runner(experiment, *group, CancelToken{}, {});
    const Attempt attempt = runner.measure(onlyCell(experiment));
    QVERIFY2(!attempt.error, attempt.error ? qPrintable(attempt.error->text()) : "");
    QStringList set;
    for (const Asked& asked : fake.asked(method::kKnobApply)) {
        QCOMPARE(asked.agent, 0);
        for (const auto& setting : asked.params.get<std::vector<protocol::KnobSetting>>())
            set << asked.label + u' ' + QString::fromStdString(setting.name);
    }
    QCOMPARE(set, QStringList({"s1 sysctl:a.b", "s2 sysctl:a.b", "s3 sysctl:a.b", "r1 link:mtu"}));
    QStringList states;
    for (const KnobState& state : attempt.record.knobs)
        states << hostName(state.host) + u' ' + state.status;
    QCOMPARE(states, QStringList({"sender 1 applied", "sender 2 applied", "sender 3 applied",
                                  "receiver applied"}));
    // Each host is asked for its counters, before and after, by its first agent alone.
    QCOMPARE(fake.asked(method::kSnapshot).size(), std::size_t{8});
    // All of them read back something else after the traffic.
    QCOMPARE(attempt.record.flags.filter("somebody else changed").size(), 4);
    QVERIFY(attempt.record.flags.contains(
        "sender 2: somebody else changed sysctl:a.b to 2 during the sample"));
}

void TestHostGroup::aKnobThatOneHostRefusesFailsTheSample() {
    FakeHosts fake;
    fake.answer = [](const Asked& asked) -> Result<Json> {
        if (asked.method != method::kKnobApply || asked.label != QLatin1String("s2"))
            return usual(asked);
        return Json(std::vector{outcomeOf({"sysctl:a.b", "test0", "7"}, "rejected")});
    };
    Experiment experiment = fakeExperiment(3, 1);
    experiment.axes = {Axis{QStringLiteral("sysctl:a.b"), Side::Sender, {KnobValue(qint64{7})}}};
    auto group = openGroup(fake, experiment);
    SampleRunner runner(experiment, *group, CancelToken{}, {});
    const Attempt attempt = runner.measure(onlyCell(experiment));
    QVERIFY(attempt.error);
    QCOMPARE(attempt.error->message, QStringLiteral("s2: sysctl:a.b does not take 7"));
    QCOMPARE(attempt.record.state, SampleState::Failed);
    QCOMPARE(attempt.record.knobs.size(), 3); // what the others made of it is known
    QVERIFY(fake.asked(method::kTrafficPrepare).empty());
}

void TestHostGroup::whatAHostRemarksIsTold() {
    FakeHosts fake;
    fake.answer = [](const Asked& asked) -> Result<Json> {
        if (asked.method != method::kKnobApply || asked.label != QLatin1String("s2"))
            return usual(asked);
        auto outcome = outcomeOf({"link:mtu", "test0", "2"}, "applied");
        outcome.accepted = "2";
        outcome.note = "the link has not come back";
        return Json(std::vector{outcome});
    };
    Experiment experiment = fakeExperiment(2, 1);
    experiment.axes = {Axis{QStringLiteral("link:mtu"), Side::Sender, {KnobValue(qint64{2})}}};
    auto group = openGroup(fake, experiment);
    SampleRunner runner(experiment, *group, CancelToken{}, {});
    const QStringList flags = runner.measure(onlyCell(experiment)).record.flags;
    QVERIFY2(flags.contains("sender 2: link:mtu: the link has not come back"),
             qPrintable(flags.join(u'\n')));

    protocol::UndoReport report;
    report.name = "ring:rx";
    report.interface = "eth1";
    report.original = "4096";
    report.command = "ethtool -G eth1 rx 4096";
    report.error = "Device or resource busy";
    QCOMPARE(undoFailureText(QStringLiteral("host1"), report),
             QStringLiteral("host1: ring:rx of eth1 could not be put back: set it to \"4096\" by "
                            "hand, with: ethtool -G eth1 rx 4096 (Device or resource busy)"));
}

QTEST_GUILESS_MAIN(TestHostGroup)
#include "tst_hostgroup.moc"
