//! The configuration while nginx reads it: arguments of directives, and messages about them.

use std::borrow::Cow;
use std::ffi::{CStr, OsStr};
use std::fmt;
use std::marker::PhantomData;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::ptr::NonNull;
use std::time::Duration;

use ngx::allocator::allocate;
use ngx::core::{Pool, Status};
use ngx::ffi::{
    NGX_INVALID_FILE, NGX_PROCESS_SIGNALLER, ngx_argv, ngx_conf_full_name, ngx_conf_log_error, ngx_conf_t,
    ngx_http_compile_complex_value, ngx_http_compile_complex_value_t, ngx_http_complex_value_t,
    ngx_http_core_loc_conf_t, ngx_parse_offset, ngx_parse_time, ngx_process, ngx_str_t, ngx_test_config,
    ngx_uint_t,
};
use ngx::http::{HttpModule, HttpModuleConfExt, NgxHttpCoreModule};

use super::log::{self, LogLevel, printable};
use super::main_thread::MainThread;
use super::names;
use super::worker_user::WorkerUser;

/// The configuration that nginx reads, for a cycle that lives for `'c`.
#[derive(Debug)]
pub(crate) struct Configuration<'c> {
    raw: NonNull<ngx_conf_t>,
    main_thread: MainThread<'c>,
    /// The name of the module, with which its messages start.
    module: &'static str,
    /// The lifetime is not to be chosen: a value of one cycle must not get into another.
    cycle: PhantomData<fn(&'c ()) -> &'c ()>,
}

/// A value with variables, compiled in a cycle that lives for `'c`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ComplexValue<'c> {
    raw: NonNull<ngx_http_complex_value_t>,
    cycle: PhantomData<&'c ngx_http_complex_value_t>,
}

impl ComplexValue<'_> {
    pub(super) fn as_ptr(self) -> *mut ngx_http_complex_value_t {
        self.raw.as_ptr()
    }
}

/// The place of a directive, in the words of nginx: `file:line` or `command line`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Position(String);

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The purpose for which nginx reads a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To serve requests by it.
    Serve,
    /// To report what is wrong with it: `nginx -t` and `nginx -s reload`.
    Check,
    /// To find the process id of the server: `nginx -s stop`, `quit` and `reopen`.
    Signal,
}

impl<'c> Configuration<'c> {
    /// # Safety
    ///
    /// nginx passed `raw` to the function that runs, and `'c` is a lifetime of which nothing is known but that the cycle
    /// outlives it.
    pub(super) unsafe fn new(
        raw: NonNull<ngx_conf_t>,
        main_thread: MainThread<'c>,
        module: &'static str,
    ) -> Self {
        Self { raw, main_thread, module, cycle: PhantomData }
    }

    pub(crate) fn main_thread(&self) -> MainThread<'_> {
        self.main_thread
    }

    /// The first argument of the directive. Empty if it has none.
    pub(crate) fn argument(&self) -> Cow<'_, str> {
        self.raw_argument().map_or(Cow::Borrowed(""), |argument| String::from_utf8_lossy(argument.as_bytes()))
    }

    fn raw_argument(&self) -> Option<&ngx_str_t> {
        // SAFETY: `args` is null or an array of strings, which stays as it is while the directive is handled.
        unsafe { (*self.raw.as_ptr()).args.as_ref()?.as_slice::<ngx_str_t>().get(1) }
    }

    /// The file that the first argument names, relative to nginx's configuration as in nginx's own directives.
    pub(crate) fn file_argument(&self) -> Option<PathBuf> {
        let mut name = *self.raw_argument()?;
        // SAFETY: the cycle is live while its configuration is read. The function sets `name` to a string in its pool.
        let status = unsafe { ngx_conf_full_name((*self.raw.as_ptr()).cycle, &raw mut name, 1) };
        Status(status).is_ok().then(|| PathBuf::from(OsStr::from_bytes(name.as_bytes())))
    }

    /// The time that the first argument is, in nginx's syntax such as `5m`.
    pub(crate) fn time_argument(&self) -> Option<Duration> {
        const IN_SECONDS: ngx_uint_t = 0;
        let mut text = *self.raw_argument()?;
        // SAFETY: the function only reads the string. It returns a negative number if that is not a time.
        let milliseconds = unsafe { ngx_parse_time(&raw mut text, IN_SECONDS) };
        u64::try_from(milliseconds).ok().map(Duration::from_millis)
    }

    /// The size that the first argument is, in nginx's syntax such as `64m`.
    pub(crate) fn size_argument(&self) -> Option<usize> {
        let mut text = *self.raw_argument()?;
        // SAFETY: the function only reads the string. It returns a negative number if that is not a size.
        let bytes = unsafe { ngx_parse_offset(&raw mut text) };
        usize::try_from(bytes).ok()
    }

    /// Compiles the first argument, which has variables. `None` if nginx refuses it; it has logged why.
    pub(crate) fn complex_value(&self) -> Option<ComplexValue<'c>> {
        let mut value = *self.raw_argument()?;
        // SAFETY: these are structures of C, which nginx zeroes as well before it sets fields. The pool of the configuration
        // lives as long as its cycle. `compile` points at what lives through the call, and nginx copies what it keeps.
        unsafe {
            let pool = Pool::from_ngx_pool((*self.raw.as_ptr()).pool);
            let raw = allocate(std::mem::zeroed::<ngx_http_complex_value_t>(), &pool).ok()?;
            let mut compile: ngx_http_compile_complex_value_t = std::mem::zeroed();
            compile.cf = self.raw.as_ptr();
            compile.value = &raw mut value;
            compile.complex_value = raw.as_ptr();
            let status = Status(ngx_http_compile_complex_value(&raw mut compile));
            status.is_ok().then_some(ComplexValue { raw, cycle: PhantomData })
        }
    }

    /// Returns true if the block whose configuration nginx has merged has a `resolver`, or one around it.
    pub(crate) fn has_resolver(&self) -> bool {
        // SAFETY: nginx merges the configurations of its core module before those of all others, and they have this type.
        unsafe {
            let core = (*self.raw.as_ptr())
                .http_location_conf_unchecked::<ngx_http_core_loc_conf_t>(NgxHttpCoreModule::module());
            core.is_some_and(|core| names::has_resolver(core.as_ref()))
        }
    }

    /// The user that workers run as, if nginx gives up rights for it.
    pub(crate) fn worker_user(&self) -> Option<WorkerUser> {
        // SAFETY: nginx reads this configuration, in its main thread.
        unsafe { WorkerUser::of(self.raw) }
    }

    /// The purpose for which the configuration is read.
    pub(crate) fn purpose(&self) -> Purpose {
        // SAFETY: nginx sets these integers when it reads its command line, before any configuration.
        let (is_test, process) = unsafe { (ngx_test_config != 0, ngx_process) };
        if is_test {
            Purpose::Check
        } else if process != NGX_PROCESS_SIGNALLER as ngx_uint_t {
            Purpose::Serve
        } else if has_argument_like(b"reload") {
            // nginx checks the new configuration before it sends the signal, and keeps the name of the signal to itself.
            // If another argument ends like this, no harm is done.
            Purpose::Check
        } else {
            Purpose::Signal
        }
    }

    /// The place of the directive, for a message that comes later.
    pub(crate) fn position(&self) -> Position {
        // SAFETY: `conf_file` is null or the file that nginx reads.
        let file = unsafe { (*self.raw.as_ptr()).conf_file.as_ref() };
        Position(match file.filter(|file| file.file.fd != NGX_INVALID_FILE) {
            Some(file) => format!("{}:{}", file.file.name, file.line),
            None => "command line".to_owned(),
        })
    }

    /// Logs why the configuration is refused. nginx adds the file and line of the directive.
    pub(crate) fn error(&self, message: &str) {
        self.log(LogLevel::EMERG, message);
    }

    /// Logs a warning. nginx adds the file and line of the directive.
    pub(crate) fn warn(&self, message: &str) {
        self.log(LogLevel::WARN, message);
    }

    fn log(&self, level: LogLevel, message: &str) {
        let message = format!("{}: {}", self.module, printable(message));
        // SAFETY: nginx reads this configuration. `%*s` takes a length and a pointer to as many bytes.
        unsafe {
            let format = c"%*s".as_ptr();
            ngx_conf_log_error(level.number(), self.raw.as_ptr(), 0, format, message.len(), message.as_ptr());
        }
    }

    /// Logs why the configuration is refused, because of a directive that nginx read earlier.
    pub(crate) fn error_at(&self, position: &Position, message: &str) {
        self.log_at(LogLevel::EMERG, position, message);
    }

    /// Logs a warning about a directive that nginx read earlier.
    pub(crate) fn warn_at(&self, position: &Position, message: &str) {
        self.log_at(LogLevel::WARN, position, message);
    }

    fn log_at(&self, level: LogLevel, position: &Position, message: &str) {
        // SAFETY: the log of the cycle that nginx prepares is live.
        unsafe {
            if let Some(log) = NonNull::new((*self.raw.as_ptr()).log) {
                log::write(log, level, || format!("{}: {message} in {position}", self.module));
            }
        }
    }
}

/// Returns true if any argument of nginx's command line ends with these bytes.
fn has_argument_like(end: &[u8]) -> bool {
    // SAFETY: nginx keeps its arguments as C strings, with a null pointer after the last.
    unsafe {
        let mut argument = ngx_argv;
        while let Some(text) = argument.as_ref().filter(|text| !text.is_null()) {
            if CStr::from_ptr(*text).to_bytes().ends_with(end) {
                return true;
            }
            argument = argument.add(1);
        }
    }
    false
}
