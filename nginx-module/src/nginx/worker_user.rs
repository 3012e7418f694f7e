//! The user that nginx's workers run as.

use std::ffi::CStr;
use std::ptr::NonNull;

use ngx::core::{CoreModule, CoreModuleConfExt, NgxCoreModule};
use ngx::ffi::{NGX_GROUP, NGX_USER, ngx_conf_t, ngx_core_conf_t, ngx_gid_t, ngx_uid_t};

/// The value of `user` while the directive has not been read.
const UNSET: ngx_uid_t = ngx_uid_t::MAX;

/// More groups than a user has.
const MOST_GROUPS: libc::c_int = 65_536;

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

    /// The user with the groups that `initgroups` gives a worker.
    fn with_groups(name: &CStr, uid: ngx_uid_t, gid: ngx_gid_t) -> Self {
        let mut count = MOST_GROUPS;
        let mut gids = vec![gid; usize::try_from(count).unwrap_or_default()];
        // SAFETY: the name is a C string, and there is room for `count` groups.
        let found = unsafe { libc::getgrouplist(name.as_ptr(), gid, gids.as_mut_ptr(), &raw mut count) };
        // The group of the worker is always among them.
        gids.truncate(if found < 0 { 1 } else { usize::try_from(count).unwrap_or(1) });
        Self { name: name.to_string_lossy().into_owned(), uid, gids }
    }
}
