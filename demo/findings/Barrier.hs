-- | Two threads that meet after each step.
--
-- > Barrier uneven   each step has more work for one of them, in turn; in sum both have the same
-- > Barrier even     each step has the same work for both
-- > Barrier turns    one works while the other waits, in turn
-- > Barrier asks     one works while the other waits, which hardly works itself
module Main (main) where

import Control.Concurrent
import Control.Exception (evaluate)
import Control.Monad
import GHC.Conc (labelThread)
import System.Environment (getArgs)

main :: IO ()
main = do
  [how] <- getArgs
  let (more, less) = case how of
        "uneven" -> (1800000, 300000)
        "even" -> (1050000, 1050000)
        _ -> (1050000, 0)
      own = if how == "asks" then 0 else more
  (toLeft, toRight) <- (,) <$> newEmptyMVar <*> newEmptyMVar
  left <- half 0 "left" $ \step -> do
    work (if even step then own else less) step
    putMVar toRight ()
    takeMVar toLeft
  right <- half 1 "right" $ \step -> do
    when (less == 0) (takeMVar toRight)
    work (if even step && less > 0 then less else more) step
    putMVar toLeft ()
    unless (less == 0) (takeMVar toRight)
  takeMVar left
  takeMVar right

-- | Starts a thread that does all steps on its capability.
half :: Int -> String -> (Int -> IO ()) -> IO (MVar ())
half cap name step = do
  done <- newEmptyMVar
  thread <- forkOn cap (mapM_ step [1 .. 400] >> putMVar done ())
  labelThread thread name
  pure done

-- | Sums some numbers; they depend on the step, so that it is done each time.
work :: Int -> Int -> IO ()
work size step = void (evaluate (sum [step .. step + size] `mod` 1000))
