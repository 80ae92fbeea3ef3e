//! Components whose messages are functions: what is to be done is said where it
//! is heard of, not by a name that another place has to know.

use gloo_timers::callback::Timeout;
use yew::prelude::*;

/// Something that a component is to do. It says whether the component has to
/// be rendered anew.
pub(super) type Update<C> = Box<dyn FnOnce(&mut C, &Context<C>) -> bool>;

/// A callback that has the component do something with what it is called with.
pub(super) fn callback<C, T>(
    ctx: &Context<C>,
    act: fn(&mut C, &Context<C>, T) -> bool,
) -> Callback<T>
where
    C: Component<Message = Update<C>>,
    T: 'static,
{
    ctx.link()
        .callback(move |value| -> Update<C> { Box::new(move |it, ctx| act(it, ctx, value)) })
}

/// Has the component do something after a pause, unless the result is dropped
/// before.
pub(super) fn after<C>(
    ctx: &Context<C>,
    ms: u32,
    act: fn(&mut C, &Context<C>, ()) -> bool,
) -> Timeout
where
    C: Component<Message = Update<C>>,
{
    let act = callback(ctx, act);
    Timeout::new(ms, move || act.emit(()))
}
