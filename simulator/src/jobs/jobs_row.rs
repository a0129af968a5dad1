//! The rows of the table `jobs`.

use serde::Serialize;

use crate::jobs::CLUSTERS;
use crate::jobs::scheduler::Shown;
use crate::lustre::identifier::text;
use crate::time::rfc3339;

/// A row of the table `jobs`. Fields that the texts do not tell are `None`.
#[derive(Debug, Serialize)]
pub struct JobsRow<'a> {
    pub scheduler: &'static str,
    pub job: String,
    pub label: String,
    pub submitted: Option<String>,
    pub started: Option<String>,
    pub ended: Option<String>,
    pub uid: Option<u32>,
    pub user_name: Option<&'a str>,
    pub gid: Option<u32>,
    pub group_name: Option<&'a str>,
    pub account: Option<&'a str>,
    pub partition: Option<String>,
    pub qos: Option<&'static str>,
    pub job_name: Option<String>,
    pub state: Option<String>,
    pub nodes: Option<u64>,
    pub node_list: Option<String>,
    pub cpus: Option<u64>,
    pub exit_code: Option<String>,
    pub parent: Option<String>,
    pub source: &'static str,
}

impl<'a> JobsRow<'a> {
    /// Returns the fields that the texts of most schedulers tell in the same way.
    pub fn new(shown: &Shown<'a>) -> Self {
        let (site, run) = (shown.site, shown.run);
        Self {
            scheduler: CLUSTERS[run.cluster],
            job: run.job(site),
            label: run.label(site),
            submitted: Some(rfc3339(run.submitted)),
            started: shown.start().map(rfc3339),
            ended: shown.end().map(rfc3339),
            uid: None,
            user_name: Some(&run.owner(site).name),
            gid: None,
            group_name: None,
            account: Some(run.account_name(site)),
            partition: Some(run.partition.to_owned()),
            qos: None,
            job_name: Some(text(&run.name.bytes())),
            state: None,
            nodes: Some(run.nodes),
            node_list: None,
            cpus: Some(run.cpus),
            exit_code: None,
            parent: run.parent().map(|parent| parent.to_string()),
            source: site.scheduler.name,
        }
    }
}
