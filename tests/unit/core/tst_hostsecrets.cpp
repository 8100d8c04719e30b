// SPDX-License-Identifier: GPL-3.0-or-later
// What is asked of the user while hosts are reached: secrets, and who remembers them.
#include "core/host/loginhistory.h"
#include "core/host/secretstore.h"

#include <QTest>

#include <array>
#include <future>
#include <thread>

using namespace knobscope;
using namespace std::chrono_literals;
using Kind = SecretRequest::Kind;
using Code = Error::Code;

namespace {

SecretRequest request(Kind kind, const QString& prompt = QStringLiteral("Password"),
                      const QString& account = QStringLiteral("op@10.0.0.1:22")) {
    SecretRequest request;
    request.kind = kind;
    request.host = QStringLiteral("host1");
    request.user = QStringLiteral("op");
    request.account = account;
    request.keyFile = QStringLiteral("/k/id");
    request.prompt = prompt;
    return request;
}

/// Gives the answers in turn and counts.
class Source final : public SecretSource {
public:
    explicit Source(std::vector<std::string> answers, bool keep = false)
        : m_answers(std::move(answers)), m_keep(keep) {}
    Result<Secret> ask(const SecretRequest&, const CancelToken&) override {
        std::this_thread::sleep_for(m_delay);
        const int turn = asked++;
        if (std::size_t(turn) >= m_answers.size())
            return fail(Code::Cancelled, QStringLiteral("no more"));
        return Secret(m_answers[std::size_t(turn)], m_keep);
    }
    void judge(const SecretRequest&, const Secret&, bool right) override { verdicts << right; }
    Result<bool> trusts(const NewHostKey&, const CancelToken&) override {
        ++trustAsked;
        return trusting;
    }
    std::atomic<int> asked{0};
    int trustAsked = 0;
    bool trusting = false;
    QList<bool> verdicts;
    std::chrono::milliseconds m_delay{0};

private:
    const std::vector<std::string> m_answers;
    const bool m_keep;
};

class Store final : public SecretStore {
public:
    bool usable() override { return works; }
    Result<std::optional<Secret>> read(const QString& id, const CancelToken&) override {
        ++reads;
        if (!kept.contains(id))
            return std::optional<Secret>();
        return std::optional<Secret>(Secret(kept.value(id)));
    }
    Result<void> write(const QString& id, const Secret& secret) override {
        kept.insert(id, std::string(secret.view()));
        return {};
    }
    Result<void> remove(const QString& id) override {
        kept.remove(id);
        return {};
    }
    bool works = true;
    int reads = 0;
    QMap<QString, std::string> kept;
};

std::string text(const Result<Secret>& secret) {
    return secret ? std::string(secret->view()) : "error: " + secret.error().text().toStdString();
}

} // namespace

class TestHostSecrets : public QObject {
    Q_OBJECT
private slots:
    void secretsAreWiped() {
        const char* where = nullptr;
        alignas(Secret) std::array<unsigned char, sizeof(Secret)> room{};
        auto* secret = new (room.data()) Secret("correct horse battery staple");
        where = secret->c_str();
        QCOMPARE(secret->view(), std::string_view("correct horse battery staple"));
        Secret moved(std::move(*secret));
        QCOMPARE(static_cast<const void*>(moved.c_str()), static_cast<const void*>(where));
        QVERIFY(secret->isEmpty());
        QCOMPARE(std::string(secret->c_str()), std::string());
        secret->~Secret();
        moved = Secret("x");
        QCOMPARE(moved.view(), std::string_view("x"));
        QVERIFY(Secret("").isEmpty() && Secret().isEmpty() && !moved.isEmpty());
        QVERIFY(Secret("a", true).copy().keep());
    }

    void sameSecretsHaveTheSameName() {
        const SecretRequest password = request(Kind::Password);
        SecretRequest again = password;
        again.host = QStringLiteral("another name");
        again.attempt = 2;
        QCOMPARE(again.id(), password.id());
        QVERIFY(request(Kind::SudoPassword).id() != password.id());
        QVERIFY(request(Kind::Password, {}, QStringLiteral("b@h:22")).id() != password.id());
        // A key is the same whatever host it opens.
        QCOMPARE(request(Kind::KeyPassphrase, {}, QStringLiteral("b@h:22")).id(),
                 request(Kind::KeyPassphrase).id());
    }

    void codesAreNotLasting_data() {
        QTest::addColumn<QString>("prompt");
        QTest::addColumn<bool>("lasting");
        QTest::newRow("password") << QStringLiteral("Password:") << true;
        QTest::newRow("of a user") << QStringLiteral("(op@host1) Password: ") << true;
        QTest::newRow("code") << QStringLiteral("Verification code:") << false;
        QTest::newRow("one-time") << QStringLiteral("One-time password (OATH) for `op':") << false;
        QTest::newRow("otp") << QStringLiteral("Enter OTP password:") << false;
        QTest::newRow("new password") << QStringLiteral("Retype new password:") << false;
        QTest::newRow("anything") << QStringLiteral("What is your favourite colour?") << false;
    }
    void codesAreNotLasting() {
        QFETCH(QString, prompt);
        QTEST(request(Kind::KeyboardInteractive, prompt).lasting(), "lasting");
        QVERIFY(request(Kind::Password, prompt).lasting());
    }

    void memoryAsksOnce() {
        const auto source = std::make_shared<Source>(std::vector<std::string>{"one", "two"});
        SecretMemory memory(source);
        QCOMPARE(text(memory.ask(request(Kind::Password), {})), std::string("one"));
        QCOMPARE(text(memory.ask(request(Kind::Password), {})), std::string("one"));
        QCOMPARE(source->asked.load(), 1);
        // A wrong one is forgotten, and judged where it came from.
        memory.judge(request(Kind::Password), Secret("one"), false);
        QCOMPARE(text(memory.ask(request(Kind::Password), {})), std::string("two"));
        // The verdict on an old answer does not touch a newer one.
        memory.judge(request(Kind::Password), Secret("one"), false);
        QCOMPARE(text(memory.ask(request(Kind::Password), {})), std::string("two"));
        QCOMPARE(source->verdicts, QList<bool>({false, false}));
    }

    void memoryKeepsNoCodes() {
        const auto source = std::make_shared<Source>(std::vector<std::string>{"1", "2"});
        SecretMemory memory(source);
        const SecretRequest code = request(Kind::KeyboardInteractive, QStringLiteral("Code:"));
        QCOMPARE(text(memory.ask(code, {})), std::string("1"));
        QCOMPARE(text(memory.ask(code, {})), std::string("2"));
    }

    void memoryAsksOneAtATime() {
        const auto source = std::make_shared<Source>(std::vector<std::string>{"one"});
        source->m_delay = 100ms;
        SecretMemory memory(source);
        std::vector<std::thread> threads;
        std::atomic<int> same{0};
        for (int i = 0; i < 8; ++i)
            threads.emplace_back([&] {
                if (text(memory.ask(request(Kind::KeyPassphrase), {})) == "one")
                    ++same;
            });
        for (std::thread& thread : threads)
            thread.join();
        QCOMPARE(same.load(), 8);
        QCOMPARE(source->asked.load(), 1);
    }

    void cancelDoesNotWaitForTheOthersAnswer() {
        const auto source = std::make_shared<Source>(std::vector<std::string>{"one"});
        source->m_delay = 1000ms;
        SecretMemory memory(source);
        std::thread slow([&] { (void)memory.ask(request(Kind::Password), {}); });
        std::this_thread::sleep_for(100ms);
        CancelToken cancel;
        cancel.cancel();
        const auto begun = std::chrono::steady_clock::now();
        const auto stopped = memory.ask(request(Kind::SudoPassword), cancel);
        QVERIFY(std::chrono::steady_clock::now() - begun < 500ms);
        slow.join();
        QVERIFY(!stopped);
        QCOMPARE(int(stopped.error().code), int(Code::Cancelled));
    }

    void memoryAsksOnceAboutAKey() {
        const auto source = std::make_shared<Source>(std::vector<std::string>{});
        SecretMemory memory(source);
        const NewHostKey key{QStringLiteral("a"), QStringLiteral("a"), QStringLiteral("ssh-rsa"),
                             QStringLiteral("SHA256:x")};
        QCOMPARE(*memory.trusts(key, {}), false);
        source->trusting = true;
        QCOMPARE(*memory.trusts(key, {}), true);
        QCOMPARE(*memory.trusts(key, {}), true);
        QCOMPARE(source->trustAsked, 2);
        NewHostKey other = key;
        other.fingerprint = QStringLiteral("SHA256:y");
        (void)memory.trusts(other, {});
        QCOMPARE(source->trustAsked, 3);
    }

    void storeIsAskedFirst() {
        const auto source = std::make_shared<Source>(std::vector<std::string>{"new"}, true);
        const auto store = std::make_shared<Store>();
        const SecretRequest password = request(Kind::Password);
        store->kept.insert(password.id(), "old");
        KeptSecrets kept(store, source);
        QCOMPARE(text(kept.ask(password, {})), std::string("old"));
        QCOMPARE(source->asked.load(), 0);
        // It was wrong: the user is asked, and the better one replaces it.
        kept.judge(password, Secret("old"), false);
        auto better = kept.ask(password, {});
        QCOMPARE(text(better), std::string("new"));
        QCOMPARE(store->kept.value(password.id()), std::string("old"));
        kept.judge(password, *better, true);
        QCOMPARE(store->kept.value(password.id()), std::string("new"));
        QCOMPARE(text(kept.ask(password, {})), std::string("new"));
        QCOMPARE(source->asked.load(), 1);
    }

    void storeKeepsOnlyWhatTheUserWants_data() {
        QTest::addColumn<bool>("keep");
        QTest::addColumn<bool>("right");
        QTest::addColumn<bool>("usable");
        QTest::addColumn<QString>("prompt");
        QTest::addColumn<bool>("kept");
        const QString password = QStringLiteral("Password:");
        QTest::newRow("wanted") << true << true << true << password << true;
        QTest::newRow("not wanted") << false << true << true << password << false;
        QTest::newRow("wrong") << true << false << true << password << false;
        QTest::newRow("no keychain") << true << true << false << password << false;
        QTest::newRow("code") << true << true << true << QStringLiteral("Code:") << false;
    }
    void storeKeepsOnlyWhatTheUserWants() {
        QFETCH(bool, keep);
        QFETCH(bool, right);
        QFETCH(bool, usable);
        QFETCH(QString, prompt);
        QFETCH(bool, kept);
        const auto source = std::make_shared<Source>(std::vector<std::string>{"new"}, keep);
        const auto store = std::make_shared<Store>();
        store->works = usable;
        KeptSecrets secrets(store, source);
        const SecretRequest question = request(Kind::KeyboardInteractive, prompt);
        const auto answer = secrets.ask(question, {});
        secrets.judge(question, *answer, right);
        QCOMPARE(!store->kept.isEmpty(), kept);
        QCOMPARE(source->verdicts, QList<bool>({right}));
    }

    void worksWithoutAStore() {
        const auto source = std::make_shared<Source>(std::vector<std::string>{"new"}, true);
        KeptSecrets kept(nullptr, source);
        const auto answer = kept.ask(request(Kind::Password), {});
        QCOMPARE(text(answer), std::string("new"));
        kept.judge(request(Kind::Password), *answer, true);
    }

    void failuresSlowDown() {
        LoginHistory history;
        const QString account = QStringLiteral("op@h:22");
        const auto start = LoginHistory::Clock::now();
        QCOMPARE(history.wait(account, start), 0ms);
        history.failed(account, start);
        QCOMPARE(history.wait(account, start), 0ms);
        std::chrono::milliseconds last{0};
        for (const auto expected : {1000ms, 2000ms, 4000ms, 8000ms, 16000ms, 30000ms, 30000ms}) {
            history.failed(account, start);
            last = history.wait(account, start);
            QCOMPARE(last, std::chrono::milliseconds(expected));
        }
        QCOMPARE(history.wait(account, start + 29s), 1000ms);
        QCOMPARE(history.wait(account, start + 31s), 0ms);
        QCOMPARE(history.wait(QStringLiteral("other@h:22"), start), 0ms);
        for (int i = 0; i < 100; ++i)
            history.failed(account, start);
        QCOMPARE(history.wait(account, start), 30000ms);
        history.succeeded(account);
        QCOMPARE(history.wait(account, start), 0ms);
    }

    void hostileTextIsMadePlain() {
        QCOMPARE(plainLine(QStringLiteral("Pass\x1b[2Jword\n\n for\tyou: ")),
                 QStringLiteral("Pass[2Jword for you:"));
        QVERIFY(plainLine(QString(5000, u'x')).size() <= 300);
        QCOMPARE(plainLine({}), QString());
    }
};

QTEST_GUILESS_MAIN(TestHostSecrets)
#include "tst_hostsecrets.moc"
