//! Chromium without a window, and a file that is open in it.

use std::env;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chromiumoxide::cdp::browser_protocol::log::EventEntryAdded;
use chromiumoxide::cdp::browser_protocol::network::{
    EventRequestWillBeSent, Headers, SetExtraHttpHeadersParams,
};
use chromiumoxide::cdp::browser_protocol::page::{CaptureScreenshotFormat, PrintToPdfParams};
use chromiumoxide::cdp::js_protocol::runtime::{
    ConsoleApiCalledType, EvaluateParams, EventConsoleApiCalled, EventExceptionThrown,
};
use chromiumoxide::error::CdpError;
use chromiumoxide::listeners::EventStream;
use chromiumoxide::page::ScreenshotParams;
use chromiumoxide::{Browser, BrowserConfig, Page};
use futures_util::{FutureExt, StreamExt};
use serde_json::{Value, json};
use tempfile::TempDir;
use thiserror::Error;
use tokio::runtime::Runtime;

use crate::view::View;

/// The variable that names the program.
const PROGRAM: &str = "JOBSTATS_TEST_CHROMIUM";

/// The names of the program in distributions.
const NAMES: [&str; 2] = ["chromium", "chromium-browser"];

/// The time after which a browser is taken to never answer, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(600);

/// Lets a tenth of a second pass in the page. What the page asks and says before reaches us before the answer.
const PAUSE: &str = "new Promise(end => setTimeout(() => end([]), 100))";

/// A failure of the browser, rather than of a page.
#[derive(Debug, Error)]
pub enum Error {
    /// The system failed.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The options of the browser contradict each other.
    #[error("Chromium cannot be started: {0}")]
    Options(String),
    /// The browser did not start, or did not do what it was told.
    #[error("Chromium: {0}")]
    Browser(#[from] CdpError),
    /// A script returned something other than lines.
    #[error("a script in the page answered: {0}")]
    Answer(String),
}

/// A browser that runs as long as this value.
pub struct Chromium {
    runtime: Runtime,
    browser: Browser,
    /// The files of the browser.
    _profile: TempDir,
}

/// A file that is open.
pub struct Tab<'b> {
    runtime: &'b Runtime,
    page: Page,
    url: String,
    requests: EventStream<EventRequestWillBeSent>,
    said: EventStream<EventConsoleApiCalled>,
    thrown: EventStream<EventExceptionThrown>,
    logged: EventStream<EventEntryAdded>,
}

/// Returns the path of the browser, if there is one.
pub fn program() -> Option<PathBuf> {
    if let Some(named) = env::var_os(PROGRAM) {
        return Some(named.into());
    }
    let path = env::var_os("PATH")?;
    let places = env::split_paths(&path);
    let mut places = places.flat_map(|it| NAMES.map(|name| it.join(name)));
    places.find(|it| it.is_file())
}

impl Chromium {
    /// Starts the browser.
    ///
    /// # Errors
    ///
    /// Fails if the browser does not start.
    pub fn start(program: &Path) -> Result<Self, Error> {
        let profile = TempDir::new()?;
        let mut config = BrowserConfig::builder()
            .chrome_executable(program)
            .user_data_dir(profile.path())
            .new_headless_mode()
            .launch_timeout(PATIENCE)
            .request_timeout(PATIENCE)
            .viewport(None)
            // Without hinting, text has the same width on every machine.
            .arg("font-render-hinting=none")
            // /dev/shm is often too small in containers.
            .arg("disable-dev-shm-usage");
        // Chromium does not start in its sandbox as root.
        if rustix::process::geteuid().is_root() {
            config = config.no_sandbox();
        }
        let config = config.build().map_err(Error::Options)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let (browser, mut handler) = runtime.block_on(Browser::launch(config))?;
        // The connection makes progress only while its handler is polled; what it yields is not needed.
        runtime.spawn(async move { while handler.next().await.is_some() {} });
        Ok(Self {
            runtime,
            browser,
            _profile: profile,
        })
    }

    /// Opens a file, and waits until it is shown.
    ///
    /// # Errors
    ///
    /// Fails if the browser does.
    pub fn open(&self, file: &Path, view: View) -> Result<Tab<'_>, Error> {
        let url = format!("file://{}", file.canonicalize()?.display());
        self.visit(url, json!({}), view)
    }

    /// Opens a page of a server, which is asked for with these headers, and waits until it is shown.
    ///
    /// # Errors
    ///
    /// Fails if the browser does.
    pub fn visit(&self, url: String, headers: Value, view: View) -> Result<Tab<'_>, Error> {
        self.runtime.block_on(async {
            let page = self.browser.new_page("about:blank").await?;
            page.execute(view.metrics()).await?;
            page.execute(view.media()).await?;
            page.enable_log().await?;
            page.enable_runtime().await?;
            let headers = SetExtraHttpHeadersParams::new(Headers::new(headers));
            page.execute(headers).await?;
            let tab = Tab {
                runtime: &self.runtime,
                requests: page.event_listener().await?,
                said: page.event_listener().await?,
                thrown: page.event_listener().await?,
                logged: page.event_listener().await?,
                page,
                url,
            };
            tab.page.goto(tab.url.as_str()).await?;
            Ok(tab)
        })
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ = self.runtime.block_on(async {
            self.browser.close().await?;
            self.browser.wait().await.map_err(CdpError::Io)
        });
    }
}

impl Tab<'_> {
    /// Runs a script, and returns what it answers: lines.
    ///
    /// # Errors
    ///
    /// Fails if the script throws, or answers something else.
    pub fn ask(&self, script: &str) -> Result<Vec<String>, Error> {
        let asked = EvaluateParams::builder()
            .expression(script)
            .await_promise(true)
            .return_by_value(true)
            .build()
            .map_err(Error::Answer)?;
        let answer = self
            .runtime
            .block_on(self.page.evaluate_expression(asked))?;
        answer
            .into_value()
            .map_err(|error| Error::Answer(error.to_string()))
    }

    /// Returns what the page has asked the network for, and what stands in the console.
    ///
    /// # Errors
    ///
    /// Fails if the browser does.
    pub fn heard(&mut self) -> Result<Vec<String>, Error> {
        self.ask(PAUSE)?;
        let mut heard = Vec::new();
        while let Some(Some(event)) = self.requests.next().now_or_never() {
            if event.request.url != self.url {
                heard.push(format!("asks for {}", event.request.url));
            }
        }
        while let Some(Some(event)) = self.said.next().now_or_never() {
            let bad = [ConsoleApiCalledType::Error, ConsoleApiCalledType::Warning];
            if bad.contains(&event.r#type) {
                heard.push(format!("says in the console: {:?}", event.args));
            }
        }
        while let Some(Some(event)) = self.thrown.next().now_or_never() {
            heard.push(format!("throws: {}", event.exception_details.text));
        }
        while let Some(Some(event)) = self.logged.next().now_or_never() {
            heard.push(format!("{:?}: {}", event.entry.level, event.entry.text));
        }
        Ok(heard)
    }

    /// Returns the page printed, as PDF.
    ///
    /// # Errors
    ///
    /// Fails if the browser does.
    pub fn print(&self) -> Result<Vec<u8>, Error> {
        let how = PrintToPdfParams::builder()
            .prefer_css_page_size(true)
            .build();
        Ok(self.runtime.block_on(self.page.pdf(how))?)
    }

    /// Returns a picture, as PNG, of the whole page or of what the window shows.
    ///
    /// # Errors
    ///
    /// Fails if the browser does.
    pub fn picture(&self, whole: bool) -> Result<Vec<u8>, Error> {
        let how = ScreenshotParams::builder()
            .format(CaptureScreenshotFormat::Png)
            .full_page(whole)
            .build();
        Ok(self.runtime.block_on(self.page.screenshot(how))?)
    }

    /// Returns a picture, as PNG, of the first element that matches.
    ///
    /// # Errors
    ///
    /// Fails if the browser does, or if there is no such element.
    pub fn picture_of(&self, selector: &str) -> Result<Vec<u8>, Error> {
        self.runtime.block_on(async {
            let element = self.page.find_element(selector).await?;
            Ok(element.screenshot(CaptureScreenshotFormat::Png).await?)
        })
    }

    /// Closes the page.
    ///
    /// # Errors
    ///
    /// Fails if the browser does.
    pub fn close(self) -> Result<(), Error> {
        Ok(self.runtime.block_on(self.page.close())?)
    }
}
