//! The attributes that matter for a document; all others are not kept.

macro_rules! attributes {
    ($($variant:ident $name:literal)*) => {
        /// An attribute by its name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub(crate) enum Attribute {
            $($variant,)*
        }

        impl Attribute {
            /// The attribute with this name in lower case, if it matters.
            pub(crate) fn named(name: &[u8]) -> Option<Self> {
                $(const $variant: &[u8] = $name.as_bytes();)*
                Some(match name {
                    $($variant => Self::$variant,)*
                    _ => return None,
                })
            }
        }
    };
}

#[expect(non_upper_case_globals, reason = "the names of variants serve as names of constants to match on")]
mod list {
    attributes! {
        AllowFullScreen "allowfullscreen" Alt "alt" Alttext "alttext" AriaControls "aria-controls" AriaExpanded "aria-expanded" AriaHidden "aria-hidden" AriaLabel "aria-label"
        AriaLabelledby "aria-labelledby" AriaLevel "aria-level" Background "background" Bgcolor "bgcolor" Charset "charset" Checked "checked" Class "class" Color "color" Colspan "colspan"
        Classid "classid" Content "content" Controls "controls" Data "data" DataBid "data-bid" DataLang "data-lang" DataLanguage "data-language" DataPid "data-pid"
        DataLazySrc "data-lazy-src" DataOriginal "data-original" DataSid "data-sid" DataSrc "data-src" DataSrcset "data-srcset" Disabled "disabled" Encoding "encoding" EpubType "epub:type" Hidden "hidden" Height "height" Href "href"
        HttpEquiv "http-equiv" Id "id" Itemprop "itemprop" Itemtype "itemtype" Lang "lang" Media "media" Name "name" Open "open" Popover "popover"
        PopoverTarget "popovertarget" Property "property"
        Rel "rel" Reversed "reversed" Role "role" Rowspan "rowspan" ShadowRootMode "shadowrootmode" Slot "slot" Src "src" Srcset "srcset" Start "start"
        Style "style" Tabindex "tabindex" Title "title" Type "type" Value "value" Width "width" XmlLang "xml:lang"
    }
}

pub(crate) use self::list::Attribute;

/// The longest name of an attribute that matters.
pub(super) const LONGEST_NAME: usize = 15;

/// The bytes of a value that are kept. An address that is as long counts as absent, since it may have been cut.
pub(crate) const LONGEST_VALUE: usize = 8 << 10;
