//! The services of a server: each handles some requests to targets of one kind, with a pool of threads.

use strum::VariantArray;

use crate::lustre::{Op, Request, TargetKind};

/// A service of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, VariantArray)]
pub enum Service {
    /// Works on most requests to MDTs.
    Mdt,
    /// Reads and writes on MDTs.
    MdtIo,
    /// Reads directories, and closes files.
    MdtReadpage,
    /// Works on requests to OSTs that move no data.
    Ost,
    /// Reads and writes on OSTs.
    OstIo,
    /// An idle service.
    OstSeq,
}

/// A kind of remote calls: the service that works on them, and the operation that they do.
pub type Opcode = (Service, Op);

impl Service {
    /// Returns the services of a server that has targets of a kind.
    pub fn of(kind: TargetKind) -> impl Iterator<Item = Self> {
        let services = Self::VARIANTS.iter().copied();
        services.filter(move |service| service.kind() == kind)
    }

    /// Returns the kind of targets that the requests are for.
    pub fn kind(self) -> TargetKind {
        match self {
            Self::Mdt | Self::MdtIo | Self::MdtReadpage => TargetKind::Mdt,
            Self::Ost | Self::OstIo | Self::OstSeq => TargetKind::Ost,
        }
    }

    /// Returns the name of the service's parameters.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mdt => "mds.MDS.mdt",
            Self::MdtIo => "mds.MDS.mdt_io",
            Self::MdtReadpage => "mds.MDS.mdt_readpage",
            Self::Ost => "ost.OSS.ost",
            Self::OstIo => "ost.OSS.ost_io",
            Self::OstSeq => "ost.OSS.ost_seq",
        }
    }

    /// Returns the last part of that name.
    pub fn short(self) -> &'static str {
        self.name().rsplit('.').next().unwrap_or_default()
    }
}

/// Returns the RPC for a request to a target.
pub fn opcode(kind: TargetKind, request: Request) -> Opcode {
    let op = request.first().map_or(Op::Statfs, |op| op.request());
    let moves_data = matches!(
        op,
        Op::Read | Op::Write | Op::Punch | Op::Fallocate | Op::Prealloc
    );
    let service = match kind {
        TargetKind::Mdt if moves_data => Service::MdtIo,
        TargetKind::Mdt if op == Op::Close => Service::MdtReadpage,
        TargetKind::Mdt => Service::Mdt,
        TargetKind::Ost if moves_data => Service::OstIo,
        TargetKind::Ost => Service::Ost,
    };
    let op = match op {
        Op::Mknod => Op::Mkdir,
        Op::Rmdir => Op::Unlink,
        Op::Prealloc => Op::Fallocate,
        op => op,
    };
    (service, op)
}

/// Returns the name of a call, and whether its time is counted.
pub fn call((service, op): Opcode) -> (String, bool) {
    match (service, op) {
        (Service::Mdt, Op::Open) => ("ldlm_ibits_enqueue".to_owned(), false),
        (Service::Mdt, Op::Mkdir) => ("mds_reint_create".to_owned(), false),
        (Service::Mdt, Op::Getattr | Op::Getxattr | Op::Statfs | Op::Sync) => {
            (format!("mds_{}", op.name()), true)
        }
        (Service::Mdt, _) => (format!("mds_reint_{}", op.name()), false),
        (Service::MdtReadpage, _) => (format!("mds_{}", op.name()), true),
        _ => (format!("ost_{}", op.name()), true),
    }
}
