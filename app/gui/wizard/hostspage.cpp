// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/wizard/hostspage.h"

#include "app/gui/job.h"
#include "app/gui/wizard/checklist.h"
#include "app/gui/wizard/hosteditor.h"

#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QVBoxLayout>

namespace knobscope {

HostsPage::HostsPage(const AppContext& context, QWidget* parent)
    : ExperimentPage(parent), m_context(context), m_name(new QLineEdit(this)),
      m_nameError(makeErrorLabel("nameError", this)),
      m_sender(new HostEditor(Side::Sender, tr("Sender"), this)),
      m_receiver(new HostEditor(Side::Receiver, tr("Receiver"), this)),
      m_checks(new CheckList(this)) {
    setTitle(tr("Hosts"));
    setSubTitle(tr("Traffic goes from the sender to the receiver. Both may be this computer."));
    m_name->setObjectName("experimentName");
    m_name->setToolTip(tr("How the run is called in the list"));
    m_checks->setObjectName("hostChecks");

    auto* form = new QFormLayout;
    form->addRow(tr("Na&me of the experiment:"), m_name);
    form->addRow(m_nameError);
    auto* hosts = new QHBoxLayout;
    hosts->addWidget(m_sender, 1);
    hosts->addWidget(m_receiver, 1);
    auto* layout = new QVBoxLayout(this);
    layout->addLayout(form);
    layout->addLayout(hosts);
    layout->addWidget(m_checks, 1);

    connect(m_name, &QLineEdit::textEdited, this, &HostsPage::edited);
    for (HostEditor* editor : {m_sender, m_receiver}) {
        connect(editor, &HostEditor::edited, this, &HostsPage::edited);
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
    const auto textFor = [own](const char* part) {
        return own != nullptr && own->isIn(part) ? own->text : QString();
    };
    const bool placed = own == nullptr || own->isIn("hosts.sender") || own->isIn("hosts.receiver");
    setErrorText(m_nameError, placed ? QString() : own->text);
    m_sender->setError(textFor("hosts.sender"));
    m_receiver->setError(textFor("hosts.receiver"));
}

void HostsPage::check(HostEditor* editor) {
    editor->setChecking(true);
    startJob(
        *m_context.pool, this,
        [host = editor->host(), options = m_context.hosts, cancel = m_cancel] {
            return checkHost(host, options, cancel);
        },
        [this, editor](const PreflightReport& report) {
            editor->setChecking(false);
            m_reports[editor] = report;
            PreflightReport all;
            for (HostEditor* one : {m_sender, m_receiver})
                all.checks += m_reports.value(one).checks;
            m_checks->setReport(all);
        });
}

} // namespace knobscope
