//! Components whose messages are closures: the sender specifies the update directly, without a message enum.

use gloo_timers::callback::Timeout;
use yew::prelude::*;

/// Update of a component; returns whether to render it again.
pub(super) type ComponentUpdate<C> = Box<dyn FnOnce(&mut C, &Context<C>) -> bool>;

/// Returns a callback that updates the component with the emitted value.
pub(super) fn callback<C, T>(
    ctx: &Context<C>,
    act: fn(&mut C, &Context<C>, T) -> bool,
) -> Callback<T>
where
    C: Component<Message = ComponentUpdate<C>>,
    T: 'static,
{
    ctx.link().callback(move |value| -> ComponentUpdate<C> {
        Box::new(move |it, ctx| act(it, ctx, value))
    })
}

/// Updates the component after a delay, unless the returned timeout is dropped earlier.
pub(super) fn update_after<C>(
    ctx: &Context<C>,
    ms: u32,
    act: fn(&mut C, &Context<C>, ()) -> bool,
) -> Timeout
where
    C: Component<Message = ComponentUpdate<C>>,
{
    let act = callback(ctx, act);
    Timeout::new(ms, move || act.emit(()))
}
