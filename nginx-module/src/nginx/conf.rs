//! Configuration time: directives' arguments, messages, and what a directive's value becomes.

use std::borrow::Cow;
use std::ffi::{CStr, c_char};
use std::path::PathBuf;
use std::ptr::{self, NonNull};

use ngx::ffi::{
    NGX_LOG_ALERT, NGX_LOG_EMERG, NGX_LOG_ERR, NGX_LOG_INFO, NGX_LOG_NOTICE, NGX_LOG_WARN, NGX_OK,
    NGX_PROCESS_SIGNALLER, ngx_argv, ngx_conf_file_t, ngx_conf_full_name, ngx_conf_log_error, ngx_conf_t,
    ngx_cycle, ngx_http_compile_complex_value, ngx_http_compile_complex_value_t, ngx_http_complex_value_t,
    ngx_http_conf_ctx_t, ngx_http_core_loc_conf_t, ngx_http_core_module, ngx_log_error_core, ngx_log_t,
    ngx_parse_time, ngx_pcalloc, ngx_process, ngx_str_t, ngx_test_config, ngx_uint_t,
};

use super::module::on_status;
use super::zone::Zone;

/// `NGX_CONF_OK` and `NGX_CONF_ERROR`, which are casts in C.
pub(super) const CONF_OK: *mut c_char = ptr::null_mut();
pub(super) const CONF_ERROR: *mut c_char = ptr::without_provenance_mut(usize::MAX);

/// A directive that nginx is reading.
pub(crate) struct Configuration {
    cf: NonNull<ngx_conf_t>,
}

/// A value with variables, as `ngx_http_compile_complex_value` made it in the configuration's pool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ComplexValue(pub(super) NonNull<ngx_http_complex_value_t>);

/// Where a directive stands.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    file: String,
    line: usize,
}

/// How urgent a line of the error log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogLevel(ngx_uint_t);

impl LogLevel {
    pub(crate) const ALERT: Self = Self(NGX_LOG_ALERT as ngx_uint_t);
    pub(crate) const ERROR: Self = Self(NGX_LOG_ERR as ngx_uint_t);
    pub(crate) const WARN: Self = Self(NGX_LOG_WARN as ngx_uint_t);
    pub(crate) const NOTICE: Self = Self(NGX_LOG_NOTICE as ngx_uint_t);

    /// The levels of `limit_req_log_level`.
    pub(crate) fn from_word(word: &str) -> Option<Self> {
        let level = match word {
            "info" => NGX_LOG_INFO,
            "notice" => NGX_LOG_NOTICE,
            "warn" => NGX_LOG_WARN,
            "error" => NGX_LOG_ERR,
            _ => return None,
        };
        Some(Self(level as ngx_uint_t))
    }

    pub(super) fn number(self) -> ngx_uint_t {
        self.0
    }
}

impl Configuration {
    /// # Safety
    ///
    /// `cf` is what nginx passed to a directive's handler, which has not returned.
    pub(super) unsafe fn new(cf: *mut ngx_conf_t) -> Option<Self> {
        NonNull::new(cf).map(|cf| Self { cf })
    }

    /// The directive's first argument as bytes; nginx has checked that there is one.
    pub(crate) fn argument(&self) -> &[u8] {
        self.argument_str().map_or(&[], |value| bytes(&value))
    }

    fn argument_str(&self) -> Option<ngx_str_t> {
        // SAFETY: cf->args is an array of ngx_str_t for as long as the handler runs (see `new`).
        let arguments = unsafe { self.cf.as_ref().args.as_ref()?.as_slice::<ngx_str_t>() };
        arguments.get(1).copied()
    }

    /// The file that the first argument names, relative to nginx's configuration as in nginx's own directives.
    pub(crate) fn file_argument(&self) -> Option<PathBuf> {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;

        let mut name = self.argument_str()?;
        // SAFETY: cf->cycle is valid while its configuration is read; the function replaces name.data by a longer
        // string from the cycle's pool.
        let status = unsafe { ngx_conf_full_name(self.cf.as_ref().cycle, &raw mut name, 1) };
        (status == NGX_OK as isize).then(|| PathBuf::from(OsStr::from_bytes(bytes(&name))))
    }

    /// The time that the first argument gives in nginx's way (`5m`), in milliseconds.
    pub(crate) fn time_argument(&self) -> Option<u64> {
        const IN_SECONDS: ngx_uint_t = 0;
        let mut text = self.argument_str()?;
        // SAFETY: the function reads the string; what it can't read as a time gives a negative number.
        u64::try_from(unsafe { ngx_parse_time(&raw mut text, IN_SECONDS) }).ok()
    }

    /// Compiles the first argument, which holds variables.
    pub(crate) fn complex_value(&self) -> Option<ComplexValue> {
        let mut value = self.argument_str()?;
        // SAFETY: the pool of the configuration outlives every request of its cycle; pcalloc gives zeroed memory of
        // the type's size, aligned for any type.
        let compiled: *mut ngx_http_complex_value_t =
            unsafe { ngx_pcalloc(self.cf.as_ref().pool, size_of::<ngx_http_complex_value_t>()) }.cast();
        let compiled = NonNull::new(compiled)?;
        // SAFETY: all-zero is what nginx's own callers (ngx_memzero) start from.
        let mut compile: ngx_http_compile_complex_value_t = unsafe { std::mem::zeroed() };
        compile.cf = self.cf.as_ptr();
        compile.value = &raw mut value;
        compile.complex_value = compiled.as_ptr();
        // SAFETY: all three pointers were set above and live through the call; nginx copies what it keeps.
        let status = unsafe { ngx_http_compile_complex_value(&raw mut compile) };
        (status == NGX_OK as isize).then_some(ComplexValue(compiled))
    }

    /// Asks for the memory that all workers share.
    pub(crate) fn shared_zone(&self) -> Option<Zone> {
        // SAFETY: cf is what nginx reads now (see `new`).
        unsafe { Zone::ask_for(self.cf.as_ptr()) }
    }

    /// Has the location of the directive answered by `crawlward_status`.
    pub(crate) fn set_status_handler(&self) {
        // SAFETY: cf->ctx is the context of the location, in which the core module's configuration has this type.
        unsafe {
            let context = self.cf.as_ref().ctx.cast::<ngx_http_conf_ctx_t>();
            let core = (*context).loc_conf.add(ngx_http_core_module.ctx_index);
            (*(*core).cast::<ngx_http_core_loc_conf_t>()).handler = Some(on_status);
        }
    }

    /// Where the directive stands, for a message that comes later.
    pub(crate) fn place(&self) -> Place {
        // SAFETY: cf->conf_file is null or the file that nginx reads now, whose name is a string.
        let file = unsafe { self.cf.as_ref().conf_file.as_ref() };
        let name = |file: &ngx_conf_file_t| String::from_utf8_lossy(bytes(&file.file.name)).into_owned();
        Place { file: file.map(name).unwrap_or_default(), line: file.map_or(0, |file| file.line) }
    }

    /// Says why the configuration is refused that was read to its end, in the form in which nginx names a place.
    pub(crate) fn error_at(&self, place: &Place, message: &str) {
        let Place { file, line } = place;
        // SAFETY: cf->log is the log of the cycle that nginx makes.
        let log = unsafe { self.cf.as_ref().log };
        log_line(NGX_LOG_EMERG as ngx_uint_t, log, &format!("crawlward: {message} in {file}:{line}"));
    }

    /// Says why the configuration is refused. nginx adds its own file and line.
    pub(crate) fn error(&self, message: &str) {
        self.log(NGX_LOG_EMERG as ngx_uint_t, message);
    }

    /// Says what the operator should know.
    pub(crate) fn warn(&self, message: &str) {
        self.log(NGX_LOG_WARN as ngx_uint_t, message);
    }

    fn log(&self, level: ngx_uint_t, message: &str) {
        let message = printable(message);
        // SAFETY: cf is valid (see `new`); `%*s` takes a length and that many bytes.
        unsafe {
            ngx_conf_log_error(
                level,
                self.cf.as_ptr(),
                0,
                c"crawlward: %*s".as_ptr(),
                message.len(),
                message.as_ptr(),
            );
        }
    }
}

/// What a configuration is read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A server does, to serve by it.
    Serve,
    /// `nginx -t` and `nginx -s reload` do, to tell what is wrong with it: nothing is written.
    Check,
    /// `nginx -s stop`, `quit` and `reopen` do, to find the server's process id: who stops a server need not wait for a
    /// ruleset, nor mend one.
    Signal,
}

impl Purpose {
    /// Of this process, and of any configuration that it reads.
    pub(crate) fn of_reading() -> Self {
        // SAFETY: plain integers that nginx sets while it reads its command line, before any configuration.
        let (is_test, process) = unsafe { (ngx_test_config != 0, ngx_process) };
        match () {
            () if is_test => Self::Check,
            () if process != NGX_PROCESS_SIGNALLER as ngx_uint_t => Self::Serve,
            // Before it signals, nginx checks the new configuration; the signal's name is not to be had otherwise. It
            // does no harm to take another argument for it.
            () if is_argument_like(b"reload") => Self::Check,
            () => Self::Signal,
        }
    }
}

/// Whether any argument that nginx was started with ends with a word, as `reload` and `-sreload` do.
fn is_argument_like(word: &[u8]) -> bool {
    // SAFETY: nginx keeps a copy of its arguments as C strings, with a null pointer behind the last.
    unsafe {
        let mut argument = ngx_argv;
        while let Some(text) = argument.as_ref().filter(|text| !text.is_null()) {
            if CStr::from_ptr(*text).to_bytes().ends_with(word) {
                return true;
            }
            argument = argument.add(1);
        }
    }
    false
}

/// Writes a line to the error log of the server.
pub(crate) fn log(level: LogLevel, message: &str) {
    // SAFETY: nginx sets ngx_cycle before it calls any module, and its log lives as long as the cycle.
    if let Some(cycle) = unsafe { ngx_cycle.as_ref() } {
        log_line(level.number(), cycle.log, message);
    }
}

/// Writes a line to an nginx log, if its level asks for it.
pub(super) fn log_line(level: ngx_uint_t, log: *mut ngx_log_t, message: &str) {
    // SAFETY: callers pass the log of a live cycle or connection; `%*s` takes a length and that many bytes.
    unsafe {
        if log.as_ref().is_some_and(|log| log.log_level >= level) {
            let message = printable(message);
            ngx_log_error_core(level, log, 0, c"%*s".as_ptr(), message.len(), message.as_ptr());
        }
    }
}

/// The message with its control characters written out: names come from files, and the value of a variable can come
/// from a client. Neither may begin a line of its own, nor talk to the terminal of whoever reads the log.
fn printable(message: &str) -> Cow<'_, str> {
    if !message.contains(char::is_control) {
        return Cow::Borrowed(message);
    }
    let mut text = String::with_capacity(message.len());
    for character in message.chars() {
        match character.is_control() {
            true => text.extend(character.escape_default()),
            false => text.push(character),
        }
    }
    Cow::Owned(text)
}

/// The bytes of an nginx string, which live as long as the pool that holds them; callers keep them no longer than a
/// request or the reading of the configuration.
pub(super) fn bytes<'a>(string: &ngx_str_t) -> &'a [u8] {
    if string.len == 0 || string.data.is_null() {
        return &[];
    }
    // SAFETY: nginx keeps `len` readable bytes at `data`.
    unsafe { std::slice::from_raw_parts(string.data, string.len) }
}
