//! The user that nginx's workers run as.

use std::ffi::CStr;
use std::ptr::NonNull;

use ngx::core::{CoreModule, CoreModuleConfExt, NgxCoreModule};
use ngx::ffi::{NGX_GROUP, NGX_USER, ngx_conf_t, ngx_core_conf_t, ngx_gid_t, ngx_uid_t};

/// The value of `user` while the directive has not been read.
const UNSET: ngx_uid_t = ngx_uid_t::MAX;

/// The largest number of groups of a user, which is the kernel's limit.
const MOST_GROUPS: usize = 65_536;

/// The user that nginx's workers run as, and all groups of that user.
#[derive(Debug)]
pub(crate) struct WorkerUser {
    pub(crate) name: String,
    pub(crate) uid: u32,
    pub(crate) gids: Vec<u32>,
}

impl WorkerUser {
    /// The user of the directive `user`, as far as nginx has read it, else the one that nginx was built with. `None` if
    /// nginx does not run as root: then its workers have its own rights.
    ///
    /// # Safety
    ///
    /// nginx reads the configuration `conf`, in its main thread.
    pub(super) unsafe fn of(conf: NonNull<ngx_conf_t>) -> Option<Self> {
        // SAFETY: a call without conditions.
        if unsafe { libc::geteuid() } != 0 {
            return None;
        }
        // SAFETY: the cycle is live while its configuration is read. The configuration of nginx's core module has this type,
        // and its user name is null or a C string.
        unsafe {
            let cycle = (*conf.as_ptr()).cycle;
            let core = (*cycle).core_main_conf_unchecked::<ngx_core_conf_t>(NgxCoreModule::module())?;
            let core = core.as_ref();
            if core.user == UNSET || core.username.is_null() {
                return Self::default_of_nginx();
            }
            Some(Self::with_groups(CStr::from_ptr(core.username), core.user, core.group))
        }
    }

    /// # Safety
    ///
    /// This is the main thread: others could use the same memory of the C library.
    unsafe fn default_of_nginx() -> Option<Self> {
        // SAFETY: the names are C strings. The records stay until the next call, and are copied.
        unsafe {
            let uid = libc::getpwnam(NGX_USER.as_ptr()).as_ref()?.pw_uid;
            let gid = libc::getgrnam(NGX_GROUP.as_ptr()).as_ref()?.gr_gid;
            Some(Self::with_groups(NGX_USER, uid, gid))
        }
    }

    /// The user with the groups that `initgroups` gives a worker. If the C library does not say which these are, the worker has
    /// the one of the configuration for sure.
    fn with_groups(name: &CStr, uid: ngx_uid_t, gid: ngx_gid_t) -> Self {
        let gids = groups(name, gid).unwrap_or_else(|| vec![gid]);
        Self { name: name.to_string_lossy().into_owned(), uid, gids }
    }
}

/// All groups of a user, and this one.
fn groups(name: &CStr, gid: ngx_gid_t) -> Option<Vec<ngx_gid_t>> {
    let mut gids = vec![gid; MOST_GROUPS];
    let mut count = libc::c_int::try_from(gids.len()).ok()?;
    // SAFETY: the name is a C string, and there is room for `count` groups.
    let found = unsafe { libc::getgrouplist(name.as_ptr(), gid, gids.as_mut_ptr(), &raw mut count) };
    gids.truncate(usize::try_from(count).ok().filter(|_| found >= 0)?);
    Some(gids)
}
