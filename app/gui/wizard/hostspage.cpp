// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/wizard/hostspage.h"

#include "app/gui/job.h"
#include "app/gui/wizard/checklist.h"
#include "app/gui/wizard/hosteditor.h"

#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QProgressBar>
#include <QVBoxLayout>

namespace knobscope {

namespace {

/// ".address" and "[0].address" are fields of the host that is edited here; what is about one of
/// the hosts after it says so in the text.
QString fieldOf(const QString& path, QString& text) {
    const QString first = QStringLiteral("[0]");
    const QString rest = path.startsWith(first) ? path.mid(first.size()) : path;
    if (!rest.startsWith(QLatin1Char('[')))
        return rest.mid(1);
    const int index = rest.mid(1, rest.indexOf(QLatin1Char(']')) - 1).toInt();
    text = HostsPage::tr("Host %1: %2").arg(index + 1).arg(text);
    return {};
}

} // namespace

HostsPage::HostsPage(const AppContext& context, QWidget* parent)
    : ExperimentPage(parent), m_context(context), m_name(new QLineEdit(this)),
      m_nameError(makeErrorLabel("nameError", this)),
      m_sender(new HostEditor(Side::Sender, tr("Sender"), this)),
      m_receiver(new HostEditor(Side::Receiver, tr("Receiver"), this)),
      m_checks(new CheckList(this)), m_busy(new QProgressBar(this)) {
    setTitle(tr("Hosts"));
    setSubTitle(tr("Traffic goes from the sender to the receiver. Both may be this computer."));
    m_name->setObjectName("experimentName");
    m_name->setToolTip(tr("How the run is called in the list"));
    m_checks->setObjectName("hostChecks");
    m_busy->setObjectName("hostBusy");
    m_busy->setRange(0, 0);
    m_busy->setTextVisible(false);
    m_busy->setMaximumHeight(6);
    // Their room is theirs, so that nothing moves under the mouse.
    for (QWidget* widget : std::initializer_list<QWidget*>{m_busy, m_nameError}) {
        QSizePolicy policy = widget->sizePolicy();
        policy.setRetainSizeWhenHidden(true);
        widget->setSizePolicy(policy);
    }
    m_nameError->setMinimumHeight(m_nameError->fontMetrics().height());
    m_busy->hide();

    auto* form = new QFormLayout;
    form->addRow(tr("Na&me of the experiment:"), m_name);
    form->addRow(m_nameError);
    auto* hosts = new QHBoxLayout;
    hosts->addWidget(m_sender, 1);
    hosts->addWidget(m_receiver, 1);
    auto* layout = new QVBoxLayout(this);
    layout->addLayout(form);
    layout->addLayout(hosts);
    layout->addWidget(m_busy);
    layout->addWidget(m_checks, 1);

    connect(m_name, &QLineEdit::textEdited, this, &HostsPage::edited);
    // A file that cannot be read is told of where hosts are kept, and when one is reached.
    const QList<SavedHost> saved =
        readSavedHosts(m_context.hosts.savedHosts).value_or(QList<SavedHost>());
    for (HostEditor* editor : {m_sender, m_receiver}) {
        editor->setSaved(saved);
        connect(editor, &HostEditor::edited, this, [this, editor] {
            forget(editor);
            emit edited();
        });
        connect(editor, &HostEditor::checkRequested, this, [this, editor] { check(editor); });
    }
}

HostsPage::~HostsPage() {
    m_cancel.cancel();
}

void HostsPage::load(const Experiment& experiment) {
    m_name->setText(experiment.name);
    m_sender->setHost(experiment.sender);
    m_receiver->setHost(experiment.receiver);
    m_sender->setFurther(experiment.moreSenders);
    m_receiver->setFurther(experiment.moreReceivers);
}

void HostsPage::store(Experiment& experiment) const {
    experiment.name = m_name->text().trimmed();
    experiment.sender = m_sender->host();
    experiment.receiver = m_receiver->host();
}

bool HostsPage::owns(const Problem& problem) const {
    return problem.isIn("name") || problem.isIn("hosts") || problem.path.isEmpty();
}

void HostsPage::display(const Experiment&, const Problem* own) {
    const bool placed = own == nullptr || own->isIn("hosts.sender") || own->isIn("hosts.receiver");
    setErrorText(m_nameError, placed ? QString() : own->text);
    for (HostEditor* editor : {m_sender, m_receiver}) {
        const QString part =
            editor == m_sender ? QStringLiteral("hosts.sender") : QStringLiteral("hosts.receiver");
        QString field;
        QString text;
        if (own != nullptr && own->isIn(part)) {
            text = own->text;
            field = fieldOf(own->path.mid(part.size()), text);
        }
        editor->setError(field, text);
    }
}

void HostsPage::suggestName(const QString& name) {
    if (m_name->text() == m_suggested)
        m_name->setText(name);
    else if (m_name->text() != name)
        return;
    m_suggested = name;
}

/// What was found out about another host says nothing about this one.
void HostsPage::forget(HostEditor* editor) {
    if (m_checking.contains(editor) && m_checking.value(editor) == editor->host())
        return;
    ++m_turns[editor];
    m_checking.remove(editor);
    m_reports.remove(editor);
    editor->setChecking(false);
    showReports();
}

void HostsPage::showReports() {
    PreflightReport all;
    for (HostEditor* one : {m_sender, m_receiver})
        all.checks += m_reports.value(one).checks;
    m_checks->setReport(all);
    m_busy->setVisible(!m_checking.isEmpty());
}

void HostsPage::check(HostEditor* editor) {
    if (m_checking.contains(editor))
        return; // one is going on
    const int turn = ++m_turns[editor];
    m_checking[editor] = editor->host();
    m_reports.remove(editor);
    editor->setChecking(true);
    showReports();
    startJob(
        *m_context.pool, this,
        [host = editor->host(), options = m_context.hosts, cancel = m_cancel] {
            return checkHost(host, options, cancel);
        },
        [this, editor, turn](const PreflightReport& report) {
            if (turn != m_turns.value(editor))
                return;
            editor->setChecking(false);
            m_checking.remove(editor);
            m_reports[editor] = report;
            showReports();
        });
}

} // namespace knobscope
