//! The elements that the tree and the markdown distinguish.

macro_rules! tags {
    ($($variant:ident $name:literal)*) => {
        /// An element by its name; text, and every element without a meaning of its own, have a value as well.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(u8)]
        pub(crate) enum Tag {
            /// Not an element: a run of characters.
            Text,
            /// An element with another name.
            Other,
            $($variant,)*
        }

        impl Tag {
            /// The name of the element; empty for those without a meaning.
            pub(crate) fn name(self) -> &'static str {
                match self {
                    Self::Text | Self::Other => "",
                    $(Self::$variant => $name,)*
                }
            }

            /// The element with this name in lower case.
            pub(crate) fn named(name: &[u8]) -> Self {
                // Names of one length are few, so this is a jump and a comparison or two.
                $(const $variant: &[u8] = $name.as_bytes();)*
                match name {
                    $($variant => Self::$variant,)*
                    _ => Self::Other,
                }
            }
        }
    };
}

#[expect(non_upper_case_globals, reason = "the names of variants serve as names of constants to match on")]
mod list {
    tags! {
        A "a" Abbr "abbr" Address "address" Annotation "annotation" AnnotationXml "annotation-xml" Area "area" Article "article" Aside "aside" Audio "audio" B "b"
        Base "base" Bdi "bdi" Bdo "bdo" Big "big" Blockquote "blockquote" Body "body" Br "br" Button "button"
        Canvas "canvas" Caption "caption" Center "center" Cite "cite" Code "code" Col "col" Colgroup "colgroup"
        Data "data" Datalist "datalist" Dd "dd" Del "del" Details "details" Dfn "dfn" Dialog "dialog" Dir "dir"
        Div "div" Dl "dl" Dt "dt" Em "em" Embed "embed" Fieldset "fieldset" Figcaption "figcaption"
        Figure "figure" Font "font" Footer "footer" Form "form" Frame "frame" Frameset "frameset" H1 "h1" H2 "h2"
        H3 "h3" H4 "h4" H5 "h5" H6 "h6" Head "head" Header "header" Hgroup "hgroup" Hr "hr" Html "html" I "i"
        Iframe "iframe" Img "img" Input "input" Ins "ins" Kbd "kbd" Label "label" Legend "legend" Li "li"
        Link "link" Listing "listing" Main "main" Map "map" Mark "mark" Marquee "marquee" Math "math" Menu "menu"
        Meta "meta" Meter "meter" Nav "nav" Nobr "nobr" Noembed "noembed" Noframes "noframes" Noscript "noscript"
        Object "object" Ol "ol" Optgroup "optgroup" Option "option" Output "output" P "p" Param "param"
        Picture "picture" Plaintext "plaintext" Pre "pre" Progress "progress" Q "q" Rb "rb" Rp "rp" Rt "rt" Rtc "rtc"
        Ruby "ruby" S "s" Samp "samp" Script "script" Search "search" Section "section" Select "select" Slot "slot"
        Small "small" Source "source" Span "span" Strike "strike" Strong "strong" Style "style" Sub "sub"
        Summary "summary" Sup "sup" Svg "svg" Table "table" Tbody "tbody" Td "td" Template "template"
        Textarea "textarea" Tfoot "tfoot" Th "th" Thead "thead" Time "time" Title "title" Tr "tr" Track "track"
        Tt "tt" U "u" Ul "ul" Var "var" Video "video" Wbr "wbr" Xmp "xmp" Mfrac "mfrac" Mroot "mroot"
        Mphantom "mphantom" Msqrt "msqrt" Msub "msub" Msubsup "msubsup" Msup "msup" Mtable "mtable" Mtr "mtr" Munder "munder" Munderover "munderover" ForeignObject "foreignobject"
    }
}

pub(crate) use self::list::Tag;

impl Tag {
    /// Returns true if the element has no content and no end tag.
    pub(crate) fn is_void(self) -> bool {
        matches!(
            self,
            Self::Area
                | Self::Base
                | Self::Br
                | Self::Col
                | Self::Embed
                | Self::Frame
                | Self::Hr
                | Self::Img
                | Self::Input
                | Self::Link
                | Self::Meta
                | Self::Param
                | Self::Source
                | Self::Track
                | Self::Wbr
        )
    }

    /// The level of a heading.
    pub(crate) fn heading_level(self) -> Option<u8> {
        Some(match self {
            Self::H1 => 1,
            Self::H2 => 2,
            Self::H3 => 3,
            Self::H4 => 4,
            Self::H5 => 5,
            Self::H6 => 6,
            _ => return None,
        })
    }

    /// Returns true if the element only changes the looks of a run of text: the standard's *formatting* elements.
    pub(crate) fn is_formatting(self) -> bool {
        matches!(
            self,
            Self::A
                | Self::B
                | Self::Big
                | Self::Code
                | Self::Em
                | Self::Font
                | Self::I
                | Self::Nobr
                | Self::S
                | Self::Small
                | Self::Strike
                | Self::Strong
                | Self::Tt
                | Self::U
        )
    }

    /// Returns true if the element stands in a line of text.
    pub(crate) fn is_inline(self) -> bool {
        self.is_formatting()
            || matches!(
                self,
                Self::Text
                    | Self::Other
                    | Self::Abbr
                    | Self::Annotation
                    | Self::AnnotationXml
                    | Self::Bdi
                    | Self::Bdo
                    | Self::Br
                    | Self::Cite
                    | Self::Data
                    | Self::Del
                    | Self::Dfn
                    | Self::Img
                    | Self::Input
                    | Self::Ins
                    | Self::Kbd
                    | Self::Label
                    | Self::Mark
                    | Self::Math
                    | Self::Meter
                    | Self::Mfrac
                    | Self::Mphantom
                    | Self::Mroot
                    | Self::Msqrt
                    | Self::Msub
                    | Self::Msubsup
                    | Self::Msup
                    | Self::Mtable
                    | Self::Mtr
                    | Self::Munder
                    | Self::Munderover
                    | Self::Output
                    | Self::Picture
                    | Self::Progress
                    | Self::Q
                    | Self::Rb
                    | Self::Rp
                    | Self::Rt
                    | Self::Rtc
                    | Self::Ruby
                    | Self::Samp
                    | Self::Slot
                    | Self::Source
                    | Self::Span
                    | Self::Sub
                    | Self::Sup
                    | Self::Time
                    | Self::Var
                    | Self::Wbr
            )
    }

    /// Returns true if blanks beside the element have no effect.
    pub(crate) fn parts_words(self) -> bool {
        self == Self::Br || !self.is_inline() && !self.is_without_text()
    }

    /// Returns true if an end tag of another element does not reach over this one: the standard's *special* elements.
    pub(crate) fn is_special(self) -> bool {
        !self.is_inline()
            && !matches!(
                self,
                Self::Audio
                    | Self::Canvas
                    | Self::Datalist
                    | Self::Dialog
                    | Self::Legend
                    | Self::Map
                    | Self::Optgroup
                    | Self::Option
                    | Self::Svg
                    | Self::Video
            )
            || matches!(self, Self::Br | Self::Img | Self::Source | Self::Wbr)
    }

    /// Returns true if the content is not for reading: programs, styles, controls, drawings.
    pub(crate) fn is_without_text(self) -> bool {
        matches!(
            self,
            Self::Script
                | Self::Style
                | Self::Template
                | Self::Svg
                | Self::Iframe
                | Self::Object
                | Self::Canvas
                | Self::Audio
                | Self::Video
                | Self::Map
                | Self::Select
                | Self::Datalist
                | Self::Textarea
                | Self::Noembed
                | Self::Noframes
                | Self::Noscript
                | Self::Head
                | Self::Title
                | Self::Rp
                | Self::Progress
                | Self::Meter
                | Self::Mphantom
        )
    }
}
